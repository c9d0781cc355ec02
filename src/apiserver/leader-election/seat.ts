import type { Lease, LeaseSpec } from '../../api/index.ts';
import { formatMicroTime, leaseKind, StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { CachedStore, Stored } from '../storage/index.ts';

export interface SeatOptions {
  readonly registry: Registry;
  readonly storage: CachedStore;
  readonly clock: Clock;
  /** Of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Who asks; no two processes have the same. */
  readonly identity: string;
  /** How long others wait after the last renewal before they take over. */
  readonly leaseMs: number;
}

const context = { user: controlPlaneUser, dryRun: false };

/** A Lease that at most one holds. Others' clocks are not trusted: what counts is when a renewal was seen here. */
export class Seat implements Disposable {
  readonly #options: SeatOptions;
  readonly #leases: Resource<Lease>;
  readonly #following: Disposable;
  readonly #listeners = new Set<() => void>();
  #lease: Lease | undefined;
  #seenMs = 0;

  constructor(options: SeatOptions) {
    const { registry, storage, namespace, name } = options;
    this.#options = options;
    this.#leases = registry.of(leaseKind);
    const key = this.#leases.prefix(namespace) + name;
    this.#following = storage.follow(key, (change) => {
      if (change.key !== key) return; // a longer name
      this.#see(change.next);
      for (const listener of [...this.#listeners]) listener();
    });
    this.#see(storage.get(key));
  }

  /** Takes or renews it; false where another holds it, or was quicker. Rejects with what the store says. */
  async claim(): Promise<boolean> {
    if (this.waitMs() > 0) return false;
    const { identity, leaseMs, clock } = this.#options;
    const now = formatMicroTime(clock.now());
    const isMine = this.#spec.holderIdentity === identity;
    const { acquireTime = now, leaseTransitions = 0 } = this.#spec;
    const isFirst = this.#lease === undefined;
    return await this.#write({
      ...this.#spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1000),
      acquireTime: isMine ? acquireTime : now,
      renewTime: now,
      leaseTransitions: isMine || isFirst ? leaseTransitions : leaseTransitions + 1,
    });
  }

  /** Gives it up, so that another can take it at once; nothing where it is another's. Rejects as `claim`. */
  async release(): Promise<void> {
    const { identity, clock } = this.#options;
    const { holderIdentity, ...rest } = this.#spec;
    if (holderIdentity !== identity) return;
    await this.#write({ ...rest, leaseDurationSeconds: 1, renewTime: formatMicroTime(clock.now()) });
  }

  /** Until it is worth trying again, in milliseconds; 0: now. */
  waitMs(): number {
    const { holderIdentity, leaseDurationSeconds = 0 } = this.#spec;
    if (!holderIdentity || holderIdentity === this.#options.identity) return 0;
    return Math.max(0, this.#seenMs + leaseDurationSeconds * 1000 - this.#options.clock.monotonicMs());
  }

  /** Who holds it; undefined: nobody. */
  holder(): string | undefined {
    return this.#spec.holderIdentity || undefined;
  }

  /** Called after each change of the Lease, whoever made it. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }

  get #spec(): LeaseSpec {
    return this.#lease?.spec ?? {};
  }

  #see(stored: Stored | null | undefined): void {
    this.#lease = stored ? this.#leases.encoding.read(stored) : undefined;
    this.#seenMs = this.#options.clock.monotonicMs();
  }

  async #write(spec: LeaseSpec): Promise<boolean> {
    const { namespace, name } = this.#options;
    const lease = this.#lease;
    try {
      const object = { ...lease, metadata: { ...lease?.metadata, namespace, name }, spec };
      const stored = lease
        ? await this.#leases.update(namespace, name, object, '', context)
        : await this.#leases.create(namespace, object, context);
      this.#see(stored);
      return true;
    } catch (error) {
      if (error instanceof StatusError && (lease ? goneOrChanged : made).has(error.reason)) return false;
      throw error;
    }
  }
}

/** Another was quicker, or the Lease has gone: it is looked at again. */
const goneOrChanged: ReadonlySet<string> = new Set(['Conflict', 'NotFound']);
/** What is not found when one is made is its namespace, which nobody else makes: that is told. */
const made: ReadonlySet<string> = new Set(['Conflict', 'AlreadyExists']);
