import type { Secret, ServiceAccount } from '../../../api/index.ts';
import { StatusError, secretKind, serviceAccountKind } from '../../../api/index.ts';
import type { ServiceAccountTokens } from '../../authn/index.ts';
import {
  accountNameAnnotation,
  accountUidAnnotation,
  controlPlaneUser,
  secretTokenType,
} from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { findReadable, isProvenAbsent } from '../presence.ts';

export interface TokenSecretsOptions extends ControllerOptions {
  tokens: Pick<ServiceAccountTokens, 'issueForSecret'>;
  /** PEM of the authority that holders of a token check this server with. */
  ca: string;
}

interface Place {
  namespace: string;
  name: string;
}

const context = { user: controlPlaneUser, dryRun: false };

/** Fills one Secret after the other, or removes it. */
export class TokenKeeper {
  readonly #options: TokenSecretsOptions;
  readonly #secrets: Resource<Secret>;
  readonly #accounts: Resource<ServiceAccount>;

  constructor(options: TokenSecretsOptions) {
    this.#options = options;
    this.#secrets = options.registry.of(secretKind);
    this.#accounts = options.registry.of(serviceAccountKind);
  }

  /** Does what is due to the Secret with this key; nothing when it holds a token already. */
  async keep(key: string): Promise<void> {
    const stored = findReadable(this.#options.storage, key);
    if (stored === undefined) return;
    const secret = this.#secrets.encoding.read(stored);
    const { annotations = {}, deletionTimestamp } = secret.metadata ?? {};
    const account = annotations[accountNameAnnotation];
    if (secret.type !== secretTokenType || !account || deletionTimestamp !== undefined) return;
    const place = this.#secrets.placeOf(key);
    const uid = await this.#uidOf(place.namespace, account);
    if (uid === 'unknown') return;
    const meant = annotations[accountUidAnnotation] || uid;
    if (uid === undefined || uid !== meant) await this.#remove(place, secret);
    else if (!isFilled(secret)) await this.#fill(place, secret, { name: account, uid });
  }

  /** The uid of the account of this name; undefined when it is proven that there is none, `unknown` when that is not known. */
  async #uidOf(namespace: string, name: string): Promise<string | 'unknown' | undefined> {
    const { storage } = this.#options;
    const key = this.#accounts.prefix(namespace) + name;
    const stored = findReadable(storage, key);
    if (stored !== undefined) return this.#accounts.encoding.read(stored).metadata?.uid ?? 'unknown';
    return (await isProvenAbsent(storage, key)) ? undefined : 'unknown';
  }

  /** Removes the Secret as it was judged: one that was changed since is judged again. */
  async #remove(place: Place, { metadata: { uid = '', resourceVersion = '' } = {} }: Secret): Promise<void> {
    await this.#secrets
      .delete(place.namespace, place.name, { uid, resourceVersion }, context)
      .catch(ignore('NotFound', 'Conflict'));
  }

  /** Fills the Secret as it was judged: while a token was signed, another may have taken its place. */
  async #fill(place: Place, judged: Secret, account: { name: string; uid: string }): Promise<void> {
    const { namespace, name: heldBy } = place;
    const { resourceVersion } = judged.metadata ?? {};
    const token = await this.#options.tokens.issueForSecret({ namespace, account, heldBy });
    const values = { token, namespace, 'ca.crt': this.#options.ca };
    const make = (now: Secret): Secret => {
      if (now.metadata?.resourceVersion !== resourceVersion) return now;
      const annotations = { ...now.metadata?.annotations, [accountUidAnnotation]: account.uid };
      const data = { ...now.data };
      for (const [key, text] of Object.entries(values)) data[key] ||= Buffer.from(text).toString('base64');
      return { ...now, metadata: { ...now.metadata, annotations }, data };
    };
    // one that is immutable cannot be filled: it stays as its owner has made it
    await this.#secrets
      .change(place, { make, operation: 'Update' }, '', context)
      .catch(ignore('NotFound', 'Invalid'));
  }
}

function isFilled({ data = {}, metadata }: Secret): boolean {
  const isNamed = Boolean(metadata?.annotations?.[accountUidAnnotation]);
  return isNamed && ['token', 'namespace', 'ca.crt'].every((key) => Boolean(data[key]));
}

function ignore(...reasons: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof StatusError && reasons.includes(error.reason))) throw error;
  };
}
