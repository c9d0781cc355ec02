import type { Lease, LeaseSpec } from '../../api/index.ts';
import { formatMicroTime, leaseKind, StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';
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

/** A Lease that at most one holds. Others' clocks are not trusted: what counts is when a renewal was seen here. */
export interface Seat extends Disposable {
  /** Takes or renews it; false where another holds it, or was quicker. Rejects with what the store says. */
  claim(): Promise<boolean>;
  /** Gives it up, so that another can take it at once; nothing where it is another's. Rejects as `claim`. */
  release(): Promise<void>;
  /** Until it is worth trying again, in milliseconds; 0: now. */
  waitMs(): number;
  /** Who holds it; undefined: nobody. */
  holder(): string | undefined;
  /** Told after each change of the Lease, whoever made it. */
  onChange(listener: () => void): Disposable;
}

const context = { user: controlPlaneUser, dryRun: false };

export function createSeat(options: SeatOptions): Seat {
  const { registry, storage, clock, namespace, name, identity, leaseMs } = options;
  const leases = registry.of(leaseKind);
  const key = leases.prefix(namespace) + name;
  const listeners = new Set<() => void>();
  let seen: { lease: Lease | undefined; atMs: number } = { lease: undefined, atMs: clock.monotonicMs() };

  function see(stored: Stored | null | undefined): void {
    seen = { lease: stored ? leases.encoding.read(stored) : undefined, atMs: clock.monotonicMs() };
  }

  const following = storage.follow(key, ({ key: changed, next }) => {
    if (changed !== key) return; // a longer name
    see(next);
    for (const listener of [...listeners]) listener();
  });
  see(storage.get(key));

  function spec(): LeaseSpec {
    return seen.lease?.spec ?? {};
  }

  function waitMs(): number {
    const { holderIdentity, leaseDurationSeconds = 0 } = spec();
    if (!holderIdentity || holderIdentity === identity) return 0;
    return Math.max(0, seen.atMs + leaseDurationSeconds * 1000 - clock.monotonicMs());
  }

  async function write(next: LeaseSpec): Promise<boolean> {
    const { lease } = seen;
    try {
      const object = { ...lease, metadata: { ...lease?.metadata, namespace, name }, spec: next };
      const stored = lease
        ? await leases.update(namespace, name, object, '', context)
        : await leases.create(namespace, object, context);
      see(stored);
      return true;
    } catch (error) {
      if (error instanceof StatusError && (lease ? goneOrChanged : made).has(error.reason)) return false;
      throw error;
    }
  }

  return {
    waitMs,
    holder: () => spec().holderIdentity || undefined,
    async claim() {
      if (waitMs() > 0) return false;
      const now = formatMicroTime(clock.now());
      const mine = spec().holderIdentity === identity;
      const { acquireTime = now, leaseTransitions = 0 } = spec();
      const isFirst = seen.lease === undefined;
      return await write({
        ...spec(),
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseMs / 1000),
        acquireTime: mine ? acquireTime : now,
        renewTime: now,
        leaseTransitions: mine || isFirst ? leaseTransitions : leaseTransitions + 1,
      });
    },
    async release() {
      if (spec().holderIdentity !== identity) return;
      const { holderIdentity: _, ...rest } = spec();
      await write({ ...rest, leaseDurationSeconds: 1, renewTime: formatMicroTime(clock.now()) });
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

/** Another was quicker, or the Lease has gone: it is looked at again. */
const goneOrChanged: ReadonlySet<string> = new Set(['Conflict', 'NotFound']);
/** What is not found when one is made is its namespace, which nobody else makes: that is told. */
const made: ReadonlySet<string> = new Set(['Conflict', 'AlreadyExists']);
