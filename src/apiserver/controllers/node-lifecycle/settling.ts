import type { Node } from '../../../api/index.ts';
import { nodeKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { ControllerOptions } from '../controller.ts';
import type { ConditionTaints } from './condition-taints.ts';
import { asSilent, readinessOf, readyCondition } from './conditions.ts';
import type { Fleet } from './fleet.ts';
import type { LostPods } from './lost-pods.ts';
import type { PodEvictions } from './pod-evictions.ts';
import type { NodeTaints } from './taints.ts';
import type { Telling } from './telling.ts';

const context = { user: controlPlaneUser, dryRun: false };

type Change = (name: string, node: Node) => Node;

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

export interface Settling {
  settle(name: string): Promise<void>;
  /** Tells those who look after its pods how a node is now; undefined: it is gone. */
  handOn(name: string, node: Node | undefined): void;
}

/**
 * Makes a node say what is known of it: first the conditions, then the taints. Every write starts from the node as it is
 * by then and judges it anew, so that nothing is undone that others wrote meanwhile.
 */
export function settling(options: SettlingOptions): Settling {
  const { registry, storage, clock, log, fleet, taints, conditionTaints, tell } = options;
  const nodes = registry.of(nodeKind);

  function observed(name: string): Node | undefined {
    const stored = storage.get(nodes.prefix('') + name);
    const node = stored && nodes.encoding.read(stored);
    if (node === undefined) fleet.forget(name);
    else fleet.observe(name, node);
    return node;
  }

  function silenced(name: string, node: Node): Node {
    return fleet.judge(name)?.isSilent ? asSilent(node, clock.now()) : node;
  }

  function tainted(name: string, node: Node): Node {
    const verdict = fleet.judge(name);
    const own = conditionTaints(node, clock.now());
    return verdict === undefined ? own : taints.write(own, verdict.tainted, clock.now());
  }

  /** Tells the node as it was before; undefined when another write has made this one needless. */
  async function write(name: string, how: Change, subresource: string): Promise<Node | undefined> {
    let before: Node | undefined;
    const make = (now: Node) => {
      fleet.observe(name, now);
      const next = how(name, now);
      before = next === now ? undefined : now;
      return next;
    };
    await nodes.change({ namespace: '', name }, { make, operation: 'Update' }, subresource, context);
    return before;
  }

  function handOn(name: string, node: Node | undefined): void {
    const isLost = node !== undefined && readinessOf(readyCondition(node)) === 'Unknown';
    options.lostPods.nodeChanged(name, isLost);
    options.evictions.nodeChanged(name, node);
  }

  async function silence(name: string): Promise<void> {
    const before = await write(name, silenced, 'status');
    if (before === undefined) return;
    log.warn({ node: name }, 'a node is silent: its state is not known');
    if (readinessOf(readyCondition(before)) === 'True') tell.nodeNotReady(before.metadata);
  }

  async function taint(name: string): Promise<void> {
    const before = await write(name, tainted, '');
    if (before !== undefined) log.info({ node: name, ...fleet.judge(name)?.tainted }, 'a node’s taints');
  }

  async function look(name: string): Promise<void> {
    let node = observed(name);
    if (node !== undefined && silenced(name, node) !== node) {
      await silence(name);
      node = observed(name);
    }
    if (node !== undefined && tainted(name, node) !== node) {
      await taint(name);
      node = observed(name);
    }
    handOn(name, node);
  }

  return {
    handOn,
    async settle(name) {
      try {
        await look(name);
      } catch (error) {
        if (error instanceof StatusError && error.reason === 'NotFound') return handOn(name, observed(name));
        if (error instanceof StatusError && error.code >= 500) options.onOutage();
        throw error;
      }
    },
  };
}
