import { leaseKind, nodeKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { nodeLeaseNamespace } from '../../authz/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { CachedStore } from '../../storage/index.ts';
import type { Follows } from '../controller.ts';
import { isRenewal } from '../node-lifecycle/index.ts';

/*
 * Which nodes are alive, by this server's own clock: what a Lease says of the time is the node's word. One whose last
 * renewal was before this server started counts from the start on. A node without a Lease is alive as long as it is not
 * found silent (its condition Ready is Unknown then).
 */

export interface LiveNodes {
  /** Forgets what it knows; what is returned is to be followed from now on. */
  begin(): Follows;
  /** Why a node counts as alive; undefined when it does not. */
  alive(node: string): string | undefined;
}

export interface LiveNodesOptions {
  registry: Registry;
  storage: CachedStore;
  clock: Clock;
}

/** Where a Lease does not say. */
const usualSeconds = 40;

export function liveNodes({ registry, storage, clock }: LiveNodesOptions): LiveNodes {
  const leases = registry.of(leaseKind);
  const nodes = registry.of(nodeKind);
  const prefix = leases.prefix(nodeLeaseNamespace);
  /** Monotonic, by the key of the Lease; those that are not here have not been renewed since `sinceMs`. */
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
    alive(name) {
      const lease = storage.get(prefix + name);
      if (lease !== undefined) {
        const seconds = leases.encoding.read(lease).spec?.leaseDurationSeconds ?? usualSeconds;
        return leaseIsAlive(lease.key, seconds) ? `node ${name} renews its Lease` : undefined;
      }
      const stored = storage.get(nodes.prefix('') + name);
      const { conditions = [] } = (stored && nodes.encoding.read(stored).status) ?? {};
      const ready = conditions.find(({ type }) => type === 'Ready')?.status;
      const isHeard = ready === 'True' || ready === 'False';
      return isHeard ? `node ${name} tells its status` : undefined;
    },
  };
}
