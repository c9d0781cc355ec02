import type { Node } from '../../../api/index.ts';
import { nodeKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { ControllerOptions } from '../controller.ts';
import type { ConditionTaints } from './condition-taints.ts';
import { asSilent, readinessOf, readyCondition } from './conditions.ts';
import type { Fleet } from './fleet.ts';
import type { LostPods } from './lost-pods.ts';
import type { PodEvictions } from './pod-evictions.ts';
import type { NodeTaints } from './taints.ts';
import type { Telling } from './telling.ts';

const context = { user: controlPlaneUser, dryRun: false };

interface SettlingOptions extends ControllerOptions {
  fleet: Fleet;
  taints: NodeTaints;
  conditionTaints: ConditionTaints;
  evictions: Pick<PodEvictions, 'nodeChanged'>;
  lostPods: Pick<LostPods, 'nodeChanged'>;
  tell: Pick<Telling, 'nodeNotReady'>;
  /** The store took no write. */
  onOutage(): void;
}

/**
 * Makes a node say what is known of it: first the conditions, then the taints. Every write starts from the node as it is
 * by then and judges it anew, so that nothing is undone that others wrote meanwhile.
 */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #nodes: Resource<Node>;

  constructor(options: SettlingOptions) {
    this.#options = options;
    this.#nodes = options.registry.of(nodeKind);
  }

  async settle(name: string): Promise<void> {
    try {
      await this.#look(name);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') {
        return this.handOn(name, this.#observed(name));
      }
      if (error instanceof StatusError && error.code >= 500) this.#options.onOutage();
      throw error;
    }
  }

  /** Tells those who look after its pods how a node is now; undefined: it is gone. */
  handOn(name: string, node: Node | undefined): void {
    const { lostPods, evictions } = this.#options;
    const isLost = node !== undefined && readinessOf(readyCondition(node)) === 'Unknown';
    lostPods.nodeChanged(name, isLost);
    evictions.nodeChanged(name, node);
  }

  async #look(name: string): Promise<void> {
    let node = this.#observed(name);
    if (node !== undefined && this.#silenced(name, node) !== node) {
      await this.#silence(name);
      node = this.#observed(name);
    }
    if (node !== undefined && this.#tainted(name, node) !== node) {
      await this.#taint(name);
      node = this.#observed(name);
    }
    this.handOn(name, node);
  }

  #observed(name: string): Node | undefined {
    const { storage, fleet } = this.#options;
    const stored = storage.get(this.#nodes.prefix('') + name);
    const node = stored && this.#nodes.encoding.read(stored);
    if (node === undefined) fleet.forget(name);
    else fleet.observe(name, node);
    return node;
  }

  #silenced(name: string, node: Node): Node {
    const { fleet, clock } = this.#options;
    return fleet.judge(name)?.isSilent ? asSilent(node, clock.now()) : node;
  }

  #tainted(name: string, node: Node): Node {
    const { fleet, taints, conditionTaints, clock } = this.#options;
    const verdict = fleet.judge(name);
    const own = conditionTaints(node, clock.now());
    return verdict === undefined ? own : taints.write(own, verdict.tainted, clock.now());
  }

  async #silence(name: string): Promise<void> {
    const { log, tell } = this.#options;
    const before = await this.#write(name, (node) => this.#silenced(name, node), 'status');
    if (before === undefined) return;
    log.warn({ node: name }, 'a node is silent: its state is not known');
    if (readinessOf(readyCondition(before)) === 'True') tell.nodeNotReady(before.metadata);
  }

  async #taint(name: string): Promise<void> {
    const { log, fleet } = this.#options;
    const before = await this.#write(name, (node) => this.#tainted(name, node), '');
    if (before !== undefined) log.info({ node: name, ...fleet.judge(name)?.tainted }, 'a node’s taints');
  }

  /** Returns the node as it was before; undefined when another write has made this one needless. */
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
