import type { Node } from '../../../api/index.ts';
import { nodeKind, StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { ControllerOptions } from '../namespace-deletion.ts';
import { asSilent } from './conditions.ts';
import type { Fleet } from './fleet.ts';
import type { PodEvictions } from './pod-evictions.ts';
import type { NodeTaints } from './taints.ts';

const context = { user: controlPlaneUser, dryRun: false };

interface SettlingOptions extends ControllerOptions {
  fleet: Fleet;
  taints: NodeTaints;
  evictions: Pick<PodEvictions, 'nodeChanged'>;
  /** The store took no write. */
  onOutage(): void;
}

/**
 * Makes a node say what is known of it: first the conditions, then the taints. Every write starts from the node as it is
 * by then and judges it anew, so that nothing is undone that others wrote meanwhile.
 */
export function settling(options: SettlingOptions): (name: string) => Promise<void> {
  const { registry, storage, clock, log, fleet, taints, evictions } = options;
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
    return verdict === undefined ? node : taints.write(node, verdict.tainted, clock.now());
  }

  async function write(
    name: string,
    how: (name: string, node: Node) => Node,
    subresource: string,
  ): Promise<boolean> {
    const node = observed(name);
    if (node === undefined || how(name, node) === node) return false;
    const make = (now: Node) => {
      fleet.observe(name, now);
      return how(name, now);
    };
    await nodes.change({ namespace: '', name }, { make, operation: 'Update' }, subresource, context);
    return true;
  }

  async function settle(name: string): Promise<void> {
    if (await write(name, silenced, 'status'))
      log.warn({ node: name }, 'a node is silent: its state is not known');
    if (await write(name, tainted, ''))
      log.info({ node: name, ...fleet.judge(name)?.tainted }, 'a node’s taints');
    evictions.nodeChanged(name, observed(name));
  }

  return async (name) => {
    try {
      await settle(name);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound')
        return evictions.nodeChanged(name, observed(name));
      if (error instanceof StatusError && error.code >= 500) options.onOutage();
      throw error;
    }
  };
}
