import type { Secret } from '../../../api/index.ts';
import { secretKind } from '../../../api/index.ts';
import { accountNameAnnotation, secretTokenType } from '../../authn/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';

const typeText = Buffer.from(JSON.stringify(secretTokenType));

/** Which Secrets are to hold the tokens of which account. It is updated with one Secret at a time. */
export class HeldTokens {
  readonly #secrets: Resource<Secret>;
  /** The keys of Secrets by `NAMESPACE/ACCOUNT`. */
  readonly #byAccount = new Map<string, Set<string>>();
  readonly #accounts = new Map<string, string>();

  constructor(registry: Registry) {
    this.#secrets = registry.of(secretKind);
  }

  /** Takes the present state of a Secret; whether it is to hold a token. */
  set(stored: Stored): boolean {
    this.remove(stored);
    if (
      !Buffer.from(stored.value.buffer, stored.value.byteOffset, stored.value.byteLength).includes(typeText)
    )
      return false; // most Secrets: they are not parsed
    const { type, metadata } = this.#secrets.encoding.read(stored);
    const account = metadata?.annotations?.[accountNameAnnotation];
    if (type !== secretTokenType || !account) return false;
    const holder = `${this.#secrets.placeOf(stored.key).namespace}/${account}`;
    const keys = this.#byAccount.get(holder) ?? new Set();
    this.#byAccount.set(holder, keys.add(stored.key));
    this.#accounts.set(stored.key, holder);
    return true;
  }

  remove({ key }: Stored): void {
    const holder = this.#accounts.get(key);
    if (holder === undefined) return;
    this.#accounts.delete(key);
    const keys = this.#byAccount.get(holder);
    keys?.delete(key);
    if (keys?.size === 0) this.#byAccount.delete(holder);
  }

  /** The keys of the Secrets of an account. */
  of(namespace: string, account: string): Iterable<string> {
    return this.#byAccount.get(`${namespace}/${account}`) ?? [];
  }
}
