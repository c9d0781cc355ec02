import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Node } from '../../../api/index.ts';
import { isNodeLabel } from './node-labels.ts';
import type { NodeWrite } from './node-write.ts';

/**
 * Returns why a node agent may not make this write of a Node; undefined when it may. By changing taints it could attract
 * workloads, and by setting owners cause the removal of its Node.
 */
export function explainNodeRefusal(write: NodeWrite): string | undefined {
  const { node, name, verb, next, old } = write;
  const me = `node ${JSON.stringify(node)}`;
  if (name !== node) return `${me} is not allowed to modify node ${JSON.stringify(name)}`;
  if (next === undefined || !isNode(write, next)) return undefined;
  const labels = changedLabels(next, old).filter((key) => !isNodeLabel(key));
  if (verb === 'create') {
    if (next.spec?.configSource) return `${me} is not allowed to create a Node with a non-nil configSource`;
    return labels.length === 0
      ? undefined
      : `${me} is not allowed to set the following labels: ${labels.join(', ')}`;
  }
  if (old === undefined || !isNode(write, old)) return undefined;
  const { configSource } = next.spec ?? {};
  if (configSource && !isDeepStrictEqual(configSource, old.spec?.configSource)) {
    return `${me} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!isDeepStrictEqual(next.spec?.taints ?? [], old.spec?.taints ?? [])) {
    return `${me} is not allowed to modify taints`;
  }
  if (!isDeepStrictEqual(next.metadata?.ownerReferences, old.metadata?.ownerReferences)) {
    return `${me} is not allowed to change its owner references`;
  }
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
}

function isNode({ resource }: NodeWrite, _object: ApiObject): _object is Node {
  return resource === 'nodes';
}

function changedLabels(next: ApiObject, old: ApiObject | undefined): string[] {
  const after = new Map(Object.entries(next.metadata?.labels ?? {}));
  const before = new Map(Object.entries(old?.metadata?.labels ?? {}));
  const keys = new Set([...after.keys(), ...before.keys()]);
  return [...keys].filter((key) => after.get(key) !== before.get(key)).sort();
}
