import type { Node } from '../../../api/index.ts';
import { leaseKind, nodeKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions, ControllerRun, Follows } from '../controller.ts';
import { controller } from '../controller.ts';
import { AwakeTime } from './awake-time.ts';
import type { Parts } from './parts.ts';
import { createParts } from './parts.ts';
import { isRenewal } from './renewals.ts';
import { lookAround } from './round.ts';
import type { NodeLifecycleSettings, Settings } from './settings.ts';
import { withDefaults } from './settings.ts';

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
  const settings = withDefaults(options.settings ?? {});
  return controller('node-lifecycle', options, (look) => new NodeWatch(options, settings, look));
}

/** One run of it. */
class NodeWatch implements ControllerRun {
  readonly atOnce = 8; // enough to share the store's group commits
  readonly follows: readonly Follows[];
  readonly #options: ControllerOptions;
  readonly #settings: Settings;
  readonly #look: (name: string) => void;
  readonly #nodes: Resource<Node>;
  readonly #awake: AwakeTime;
  readonly #parts: Parts;
  /** Follows everything while the store takes no writes. */
  #outage: Disposable | undefined;

  constructor(options: ControllerOptions, settings: Settings, look: (name: string) => void) {
    this.#options = options;
    this.#settings = settings;
    this.#look = look;
    this.#nodes = options.registry.of(nodeKind);
    this.#awake = new AwakeTime(options.clock, settings.monitorPeriodMs);
    this.#parts = createParts(options, { settings, awake: this.#awake, onOutage: () => this.#beginOutage() });
    this.follows = [this.#followNodes(), this.#followLeases()];
  }

  work(name: string): Promise<void> {
    return this.#parts.settling.settle(name);
  }

  /** All nodes are known before any is judged: how many are ready is a matter of all. */
  async prepare(signal: AbortSignal): Promise<void> {
    const { storage, clock } = this.#options;
    const yielder = new EventLoopYielder();
    for (const { key } of storage.list(this.#nodes.prefix(''), '', 0).items) {
      if (signal.aborted) return;
      const { name } = this.#nodes.placeOf(key);
      const stored = storage.get(key);
      const node = stored && this.#nodes.encoding.read(stored);
      if (node === undefined) continue;
      this.#parts.fleet.observe(name, node);
      this.#parts.settling.handOn(name, node);
      if (this.#parts.conditionTaints(node, clock.now()) !== node) this.#look(name);
      if (yielder.isDue) await yielder.yield();
    }
  }

  beside(signal: AbortSignal): readonly Promise<void>[] {
    return [this.#parts.run(signal), this.#watchOver(signal)];
  }

  #followNodes(): Follows {
    const { tell } = this.#parts;
    const nodes = this.#nodes;
    const look = ({ key }: Stored) => this.#look(nodes.placeOf(key).name);
    return {
      resource: nodes,
      added(next) {
        look(next);
        tell.nodeRegistered(nodes.encoding.read(next).metadata);
      },
      changed: look,
      gone(previous) {
        look(previous);
        tell.nodeRemoved(nodes.encoding.read(previous).metadata);
      },
    };
  }

  #followLeases(): Follows {
    const leases = this.#options.registry.of(leaseKind);
    const hear = (next: Stored, previous: Stored | null) => {
      if (isRenewal(previous, next)) this.#parts.fleet.heard(leases.placeOf(next.key).name);
    };
    return {
      resource: leases,
      namespace: leaseNamespace,
      added: (next) => hear(next, null),
      changed: hear,
    };
  }

  /** What cannot be written is no heartbeat either, and it is not the nodes' fault that they are not heard. */
  #beginOutage(): void {
    this.#outage ??= this.#options.storage.follow('', () => this.#endOutage());
    this.#parts.fleet.graceAnew();
  }

  #endOutage(): void {
    this.#outage?.[Symbol.dispose]();
    this.#outage = undefined;
    this.#parts.fleet.graceAnew();
  }

  async #watchOver(signal: AbortSignal): Promise<void> {
    const { fleet, pace } = this.#parts;
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      for (const name of lookAround({ fleet, pace, log }, this.#awake.nowMs)) {
        this.#look(name);
        if (this.#outage !== undefined) break; // with one it is tried whether the others can be heard again
      }
      await clock.sleep(this.#settings.monitorPeriodMs, signal);
      this.#awake.tick();
    }
    this.#outage?.[Symbol.dispose]();
  }
}
