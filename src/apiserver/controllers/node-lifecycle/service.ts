import { leaseKind, nodeKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { EventLoopYielder, untilAborted } from '../../../base/index.ts';
import type { Change } from '../../storage/index.ts';
import type { ControllerOptions } from '../namespace-deletion.ts';
import { createWorkQueue } from '../work-queue.ts';
import { AwakeTime } from './awake-time.ts';
import { createParts } from './parts.ts';
import { isRenewal } from './renewals.ts';
import { lookAround } from './round.ts';
import type { NodeLifecycleSettings } from './settings.ts';
import { withDefaults } from './settings.ts';

/** Nodes written at once: enough to share the store's group commits. */
const atOnce = 8;
const leaseNamespace = 'kube-node-lease';

/**
 * Watches over the nodes (specification, sections 2.5 and 3.2): one that renews neither its Lease nor its status becomes
 * Unknown and `unreachable`, one that is not ready for as long becomes `not-ready`, and their pods go when they do not
 * tolerate that. All is undone when the node is ready again. What a node tells of pressures stands on it as taints too.
 *
 *     leases, nodes ──► Fleet (when each was heard) ──(every period)──► who is due ──► work queue ──► conditions, taints
 *                                      ▲                                                                    │
 *                            EvictionPace (who may be given up)             PodEvictions, LostPods ◄────────┘
 *
 * Two at work on one store would only double the writes and the pace of evictions, yet one is meant: `run` begins with
 * nothing and ends with its signal, so that whoever elects a leader among several servers has but to call it.
 */
export function nodeLifecycle(options: ControllerOptions & { settings?: NodeLifecycleSettings }): Service {
  const { registry, storage, clock, log } = options;
  const settings = withDefaults(options.settings ?? {});
  const nodes = registry.of(nodeKind);
  const nodePrefix = nodes.prefix('');
  const leasePrefix = registry.of(leaseKind).prefix(leaseNamespace);

  async function run(signal: AbortSignal, ready: () => void): Promise<void> {
    const awake = new AwakeTime(clock, settings.monitorPeriodMs);
    const parts = createParts(options, { settings, awake, onOutage: () => setOutage(true) });
    const { fleet, pace, settling, tell } = parts;
    const queue = createWorkQueue({ work: settling.settle, atOnce, clock, log });

    let isOutage = false;

    /** What cannot be written is no heartbeat either, and it is not the nodes' fault that they are not heard. */
    function setOutage(isNow: boolean): void {
      isOutage = isNow;
      fleet.graceAnew();
    }

    function hear(change: Change): void {
      const { key, previous, next } = change;
      if (isOutage) setOutage(false);
      if (key.startsWith(nodePrefix)) hearOfNode(change);
      else if (next !== null && key.startsWith(leasePrefix) && isRenewal(previous, next)) {
        fleet.heard(key.slice(leasePrefix.length));
      }
    }

    function hearOfNode({ key, previous, next }: Change): void {
      queue.add(key.slice(nodePrefix.length));
      if (previous === null && next !== null) tell.nodeRegistered(nodes.encoding.read(next).metadata);
      if (previous !== null && next === null) tell.nodeRemoved(nodes.encoding.read(previous).metadata);
    }

    /** All nodes are known before any is judged: how many are ready is a matter of all. */
    async function load(): Promise<void> {
      const yielder = new EventLoopYielder();
      for (const { key } of storage.list(nodePrefix, '', 0).items) {
        if (signal.aborted) return;
        const name = key.slice(nodePrefix.length);
        const stored = storage.get(key);
        const node = stored && nodes.encoding.read(stored);
        if (node === undefined) continue;
        fleet.observe(name, node);
        settling.handOn(name, node);
        if (parts.conditionTaints(node, clock.now()) !== node) queue.add(name);
        if (yielder.isDue) await yielder.yield();
      }
    }

    async function watchOver(): Promise<void> {
      while (!signal.aborted) {
        for (const name of lookAround({ fleet, pace, log }, awake.nowMs)) {
          queue.add(name);
          if (isOutage) break; // with one it is tried whether the others can be heard again
        }
        await clock.sleep(settings.monitorPeriodMs, signal);
        awake.tick();
      }
    }

    using _listener = storage.onApply(hear);
    ready();
    await load();
    await Promise.all([queue.run(signal), parts.run(signal), watchOver(), untilAborted(signal)]);
  }

  return { name: 'node-lifecycle', dependsOn: [], onFailure: 'restart', run };
}
