import type { Lease, LeaseSpec } from '../../api/index.ts';
import { formatMicroTime, leaseKind, StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { CachedStore, Stored } from '../storage/index.ts';
import { isReadable } from '../storage/index.ts';

export interface CandidateOptions {
  readonly registry: Registry;
  readonly storage: CachedStore;
  readonly clock: Clock;
  /** Of the Lease. */
  readonly namespace: string;
  readonly name: string;
  /** Of this process; no other process has the same. */
  readonly identity: string;
  /** How long others wait after the last renewal before they take over. */
  readonly leaseMs: number;
}

const context = { user: controlPlaneUser, dryRun: false };

/**
 * This process as a candidate for a Lease that at most one process holds. The clocks of other processes are not trusted:
 * a renewal counts from the time at which this process observed it.
 */
export class Candidate implements Disposable {
  readonly #options: CandidateOptions;
  readonly #leases: Resource<Lease>;
  readonly #following: Disposable;
  readonly #listeners = new Set<() => void>();
  #lease: Lease | undefined;
  #observedMs = 0;

  constructor(options: CandidateOptions) {
    const { registry, storage, namespace, name } = options;
    this.#options = options;
    this.#leases = registry.of(leaseKind);
    const key = this.#leases.prefix(namespace) + name;
    this.#following = storage.follow(key, (change) => {
      if (change.key !== key) return; // a longer name
      this.#observe(change.next);
      for (const listener of [...this.#listeners]) listener();
    });
    this.#observe(storage.get(key));
  }

  /** Acquires or renews the Lease; false when another process holds it or was faster. Rejects with the store's error. */
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

  /** Releases the Lease so that another process can acquire it at once; does nothing when another holds it. Rejects as `claim`. */
  async release(): Promise<void> {
    const { identity, clock } = this.#options;
    const { holderIdentity, ...rest } = this.#spec;
    if (holderIdentity !== identity) return;
    await this.#write({ ...rest, leaseDurationSeconds: 1, renewTime: formatMicroTime(clock.now()) });
  }

  /** Milliseconds until the Lease can be acquired or renewed; 0: now. */
  waitMs(): number {
    const { holderIdentity, leaseDurationSeconds = 0 } = this.#spec;
    if (!holderIdentity || holderIdentity === this.#options.identity) return 0;
    return Math.max(0, this.#observedMs + leaseDurationSeconds * 1000 - this.#options.clock.monotonicMs());
  }

  /** The identity of the holder; undefined: there is none. */
  holder(): string | undefined {
    return this.#spec.holderIdentity || undefined;
  }

  /** `listener` is called after each change of the Lease, also of this process's own. */
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

  #observe(stored: Stored | null | undefined): void {
    this.#lease = stored ? this.#leases.encoding.read(stored) : undefined;
    this.#observedMs = this.#options.clock.monotonicMs();
  }

  async #write(spec: LeaseSpec): Promise<boolean> {
    const { namespace, name } = this.#options;
    const lease = this.#lease;
    try {
      const object = { ...lease, metadata: { ...lease?.metadata, namespace, name }, spec };
      const stored = lease
        ? await this.#leases.update(namespace, name, object, '', context)
        : await this.#leases.create(namespace, object, context);
      this.#observe(stored);
      return true;
    } catch (error) {
      const state = this.#leases.storage.lookup(this.#leases.prefix(namespace) + name);
      if (state !== undefined && !isReadable(state)) throw error; // nobody can take it over before it is stored again
      if (error instanceof StatusError && (lease ? goneOrChanged : createdConcurrently).has(error.reason))
        return false;
      throw error;
    }
  }
}

/** Another process was faster, or the Lease was deleted: the next try reads it again. */
const goneOrChanged: ReadonlySet<string> = new Set(['Conflict', 'NotFound']);
/** NotFound is missing here: on creation it is the namespace that is missing, which is an error to report. */
const createdConcurrently: ReadonlySet<string> = new Set(['Conflict', 'AlreadyExists']);
