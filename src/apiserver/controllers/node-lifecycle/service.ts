import type { Node } from '../../../api/index.ts';
import { leaseKind, nodeKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions, ControllerRun, Follows } from '../controller.ts';
import { controller } from '../controller.ts';
import { AwakeTime } from './awake-time.ts';
import { checkFleet } from './check-fleet.ts';
import type { Components } from './components.ts';
import { createComponents } from './components.ts';
import { isRenewal } from './renewals.ts';
import type { NodeLifecycleSettings, Settings } from './settings.ts';
import { withDefaults } from './settings.ts';

const leaseNamespace = 'kube-node-lease';

/**
 * Watches over the nodes (specification, sections 2.5 and 3.2): a node that renews neither its Lease nor its status for
 * the grace period becomes Unknown and gets the taint `unreachable`; one that is not ready for that time gets the taint
 * `not-ready`. Pods that do not tolerate these taints are evicted. All is undone when the node is ready again. The
 * pressures that a node reports become taints too.
 *
 *     leases, nodes ──► Fleet (last signs of life) ──(every period)──► nodes due ──► work queue ──► conditions, taints
 *                                      ▲                                                                    │
 *                            EvictionPace (nodes to give up)                PodEvictions, LostPods ◄────────┘
 *
 * Meant to run in one server of a store; two would only double the writes and the rate of evictions. `run` starts without
 * state and ends with its signal, so a leader election can start and stop it.
 */
export function nodeLifecycle(options: ControllerOptions & { settings?: NodeLifecycleSettings }): Service {
  const settings = withDefaults(options.settings ?? {});
  return controller('node-lifecycle', options, (enqueue) => new NodeWatch(options, settings, enqueue));
}

/** One run of the node lifecycle. */
class NodeWatch implements ControllerRun {
  readonly atOnce = 8; // enough to share the store's group commits
  readonly follows: readonly Follows[];
  readonly #options: ControllerOptions;
  readonly #settings: Settings;
  readonly #enqueue: (name: string) => void;
  readonly #nodes: Resource<Node>;
  readonly #awake: AwakeTime;
  readonly #components: Components;
  /** Follows all changes while the store takes no writes. */
  #outage: Disposable | undefined;

  constructor(options: ControllerOptions, settings: Settings, enqueue: (name: string) => void) {
    this.#options = options;
    this.#settings = settings;
    this.#enqueue = enqueue;
    this.#nodes = options.registry.of(nodeKind);
    this.#awake = new AwakeTime(options.clock, settings.monitorPeriodMs);
    const onOutage = () => this.#beginOutage();
    this.#components = createComponents(options, { settings, awake: this.#awake, onOutage });
    this.follows = [this.#followNodes(), this.#followLeases()];
  }

  work(name: string): Promise<void> {
    return this.#components.reconciler.reconcile(name);
  }

  /** All nodes are known before any is judged: a verdict depends on how many are ready. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { storage, clock } = this.#options;
    const yielder = new EventLoopYielder();
    for (const { key } of storage.list(this.#nodes.prefix(''), '', 0).items) {
      if (signal.aborted) return;
      const { name } = this.#nodes.placeOf(key);
      const stored = storage.get(key);
      const node = stored && this.#nodes.encoding.read(stored);
      if (node === undefined) continue;
      this.#components.fleet.observe(name, node);
      this.#components.reconciler.notifyPodControllers(name, node);
      if (this.#components.conditionTaints(node, clock.now()) !== node) this.#enqueue(name);
      if (yielder.isDue) await yielder.yield();
    }
  }

  beside(signal: AbortSignal): readonly Promise<void>[] {
    return [this.#components.run(signal), this.#checkPeriodically(signal)];
  }

  #followNodes(): Follows {
    const { events } = this.#components;
    const nodes = this.#nodes;
    const enqueue = ({ key }: Stored) => this.#enqueue(nodes.placeOf(key).name);
    return {
      resource: nodes,
      added(next) {
        enqueue(next);
        events.nodeRegistered(nodes.encoding.read(next).metadata);
      },
      changed: enqueue,
      gone(previous) {
        enqueue(previous);
        events.nodeRemoved(nodes.encoding.read(previous).metadata);
      },
    };
  }

  #followLeases(): Follows {
    const leases = this.#options.registry.of(leaseKind);
    const onWritten = (next: Stored, previous: Stored | null) => {
      if (isRenewal(previous, next)) this.#components.fleet.recordHeartbeat(leases.placeOf(next.key).name);
    };
    return {
      resource: leases,
      namespace: leaseNamespace,
      added: (next) => onWritten(next, null),
      changed: onWritten,
    };
  }

  /** A node is not silent because its Lease, or the Node itself, cannot be read: it may be renewed all the time. */
  #excuseUnreadable(): void {
    const leases = this.#options.registry.of(leaseKind);
    for (const resource of [leases, this.#nodes]) {
      const found = this.#options.storage.unreadable(resource.prefix(leaseNamespace));
      for (const { key } of found) this.#components.fleet.recordHeartbeat(resource.placeOf(key).name);
    }
  }

  /** While the store takes no writes, no heartbeat can be stored: missing heartbeats must not count against the nodes. */
  #beginOutage(): void {
    this.#outage ??= this.#options.storage.follow('', () => this.#endOutage());
    this.#components.fleet.restartGrace();
  }

  #endOutage(): void {
    this.#outage?.[Symbol.dispose]();
    this.#outage = undefined;
    this.#components.fleet.restartGrace();
  }

  async #checkPeriodically(signal: AbortSignal): Promise<void> {
    const { fleet, pace } = this.#components;
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      this.#excuseUnreadable();
      for (const name of checkFleet({ fleet, pace, log }, this.#awake.nowMs)) {
        this.#enqueue(name);
        if (this.#outage !== undefined) break; // one write is enough to try whether the store takes writes again
      }
      await clock.sleep(this.#settings.monitorPeriodMs, signal);
      this.#awake.tick();
    }
    this.#outage?.[Symbol.dispose]();
  }
}
