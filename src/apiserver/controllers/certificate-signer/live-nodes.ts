import { leaseKind, nodeKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { nodeLeaseNamespace } from '../../authz/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { CachedStore } from '../../storage/index.ts';
import type { Follows } from '../controller.ts';
import { isRenewal } from '../node-lifecycle/index.ts';
import { isUnreadable } from '../presence.ts';

/*
 * Which nodes are alive, by this server's own clock: the times in a Lease come from the node's clock and are not used. A
 * renewal from before this server started counts from the start. A node without a Lease counts as alive until the node
 * lifecycle finds it silent (its condition Ready is Unknown then).
 */

export interface LiveNodes {
  /** Starts from nothing; the caller follows what is returned. */
  begin(): Follows;
  /** The reason why a node counts as alive; undefined when it does not. */
  findSignOfLife(node: string): string | undefined;
}

export interface LiveNodesOptions {
  registry: Registry;
  storage: CachedStore;
  clock: Clock;
}

/** For a Lease without a duration. */
const defaultLeaseSeconds = 40;

export function createLiveNodes({ registry, storage, clock }: LiveNodesOptions): LiveNodes {
  const leases = registry.of(leaseKind);
  const nodes = registry.of(nodeKind);
  const prefix = leases.prefix(nodeLeaseNamespace);
  /** Monotonic, by the key of the Lease. A Lease that is not here has not been renewed since `sinceMs`. */
  const renewedMs = new Map<string, number>();
  let sinceMs = clock.monotonicMs();

  function leaseIsAlive(key: string, seconds: number): boolean {
    return clock.monotonicMs() - (renewedMs.get(key) ?? sinceMs) < seconds * 1000;
  }

  return {
    begin() {
      sinceMs = clock.monotonicMs();
      renewedMs.clear();
      return {
        resource: leases,
        namespace: nodeLeaseNamespace,
        added: ({ key }) => renewedMs.set(key, clock.monotonicMs()),
        changed(next, previous) {
          if (isRenewal(previous, next)) renewedMs.set(next.key, clock.monotonicMs());
        },
        gone: ({ key }) => renewedMs.delete(key),
      };
    },
    findSignOfLife(name) {
      const places = [prefix + name, nodes.prefix('') + name];
      const unreadable = places.find((key) => isUnreadable(storage, key));
      if (unreadable !== undefined) return `${unreadable} cannot be read, and node ${name} may be alive`;
      const lease = storage.get(prefix + name);
      if (lease !== undefined) {
        const seconds = leases.encoding.read(lease).spec?.leaseDurationSeconds ?? defaultLeaseSeconds;
        return leaseIsAlive(lease.key, seconds) ? `node ${name} renews its Lease` : undefined;
      }
      const stored = storage.get(nodes.prefix('') + name);
      const { conditions = [] } = (stored && nodes.encoding.read(stored).status) ?? {};
      const ready = conditions.find(({ type }) => type === 'Ready')?.status;
      const isReporting = ready === 'True' || ready === 'False';
      return isReporting ? `node ${name} tells its status` : undefined;
    },
  };
}
