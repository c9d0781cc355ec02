import type { Node } from '../../../api/index.ts';
import { nodeKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import { UnreadableError } from '../../registry/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { isUnreadable } from '../presence.ts';
import type { ConditionTaints } from './condition-taints.ts';
import { asSilent, readinessOf, readyCondition } from './conditions.ts';
import type { Fleet } from './fleet.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';
import type { LostPods } from './lost-pods.ts';
import type { PodEvictions } from './pod-evictions.ts';
import type { NodeTaints } from './taints.ts';

const context = { user: controlPlaneUser, dryRun: false };

interface NodeReconcilerOptions extends ControllerOptions {
  fleet: Fleet;
  taints: NodeTaints;
  conditionTaints: ConditionTaints;
  evictions: Pick<PodEvictions, 'nodeChanged'>;
  lostPods: Pick<LostPods, 'nodeChanged'>;
  events: Pick<LifecycleEvents, 'nodeNotReady'>;
  /** Called when the store refuses a write. */
  onOutage(): void;
}

/**
 * Writes the verdict on a node into its object: first the conditions, then the taints. Every write starts from the latest
 * state of the node and judges it again, so that no write of another client is undone.
 */
export class NodeReconciler {
  readonly #options: NodeReconcilerOptions;
  readonly #nodes: Resource<Node>;

  constructor(options: NodeReconcilerOptions) {
    this.#options = options;
    this.#nodes = options.registry.of(nodeKind);
  }

  /** A node that cannot be read stays as it is. */
  async reconcile(name: string): Promise<void> {
    if (isUnreadable(this.#options.storage, this.#nodes.prefix('') + name)) return;
    try {
      await this.#writeVerdict(name);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') {
        return this.notifyPodControllers(name, this.#observe(name));
      }
      if (error instanceof UnreadableError) return;
      if (error instanceof StatusError && error.code >= 500) this.#options.onOutage();
      throw error;
    }
  }

  /** Passes the present state of a node to those that take care of its pods; undefined: it is gone. */
  notifyPodControllers(name: string, node: Node | undefined): void {
    const { lostPods, evictions } = this.#options;
    const isLost = node !== undefined && readinessOf(readyCondition(node)) === 'Unknown';
    lostPods.nodeChanged(name, isLost);
    evictions.nodeChanged(name, node);
  }

  async #writeVerdict(name: string): Promise<void> {
    let node = this.#observe(name);
    if (node !== undefined && this.#withConditions(name, node) !== node) {
      await this.#writeConditions(name);
      node = this.#observe(name);
    }
    if (node !== undefined && this.#withTaints(name, node) !== node) {
      await this.#writeTaints(name);
      node = this.#observe(name);
    }
    this.notifyPodControllers(name, node);
  }

  #observe(name: string): Node | undefined {
    const { storage, fleet } = this.#options;
    const stored = storage.get(this.#nodes.prefix('') + name);
    const node = stored && this.#nodes.encoding.read(stored);
    if (node === undefined) fleet.forget(name);
    else fleet.observe(name, node);
    return node;
  }

  #withConditions(name: string, node: Node): Node {
    const { fleet, clock } = this.#options;
    return fleet.judge(name)?.isSilent ? asSilent(node, clock.now()) : node;
  }

  #withTaints(name: string, node: Node): Node {
    const { fleet, taints, conditionTaints, clock } = this.#options;
    const verdict = fleet.judge(name);
    const own = conditionTaints(node, clock.now());
    return verdict === undefined ? own : taints.write(own, verdict.tainted, clock.now());
  }

  async #writeConditions(name: string): Promise<void> {
    const { log, events } = this.#options;
    const before = await this.#write(name, (node) => this.#withConditions(name, node), 'status');
    if (before === undefined) return;
    log.warn({ node: name }, 'a node is silent: its state is not known');
    if (readinessOf(readyCondition(before)) === 'True') events.nodeNotReady(before.metadata);
  }

  async #writeTaints(name: string): Promise<void> {
    const { log, fleet } = this.#options;
    const before = await this.#write(name, (node) => this.#withTaints(name, node), '');
    if (before !== undefined)
      log.info({ node: name, ...fleet.judge(name)?.tainted }, 'the taints of a node have changed');
  }

  /** Returns the node as it was before; undefined when another write has made this one unnecessary. */
  async #write(name: string, change: (node: Node) => Node, subresource: string): Promise<Node | undefined> {
    let before: Node | undefined;
    const make = (now: Node) => {
      this.#options.fleet.observe(name, now);
      const next = change(now);
      before = next === now ? undefined : now;
      return next;
    };
    await this.#nodes.change({ namespace: '', name }, { make, operation: 'Update' }, subresource, context);
    return before;
  }
}
