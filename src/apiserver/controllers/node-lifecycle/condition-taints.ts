import type { Node, Taint } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';

/*
 * A node's conditions, and whether it may take new pods, are written on it as taints for the scheduler. They are derived
 * from the node alone, at once. A taint with such a key and effect that the node does not call for is removed, also when
 * it was set by another client; as in the reference.
 */

/** Condition type by the last part of its taint's key. */
const pressures = {
  'memory-pressure': 'MemoryPressure',
  'disk-pressure': 'DiskPressure',
  'pid-pressure': 'PIDPressure',
  'network-unavailable': 'NetworkUnavailable',
} as const;
const effect = 'NoSchedule';

/** The node with the taints that its conditions and `spec.unschedulable` call for; the same object when it has them. */
export type ConditionTaints = (node: Node, now: number) => Node;

export function conditionTaints(domain: string): ConditionTaints {
  const owned = [...Object.keys(pressures), 'unschedulable'].map((name) => `node.${domain}/${name}`);
  const isOwned = (taint: Taint) => taint.effect === effect && owned.includes(taint.key);

  return (node, now) => {
    const taints = node.spec?.taints ?? [];
    const wanted = listWanted(node).map((name) => `node.${domain}/${name}`);
    const kept = taints.filter((taint) => !isOwned(taint) || wanted.includes(taint.key));
    const missing = wanted.filter((key) => !kept.some((taint) => isOwned(taint) && taint.key === key));
    if (missing.length === 0 && kept.length === taints.length) return node;
    const timeAdded = formatTime(now);
    return withTaints(node, [...kept, ...missing.map((key) => ({ key, effect, timeAdded }))]);
  };
}

function listWanted({ spec, status }: Node): string[] {
  const isTrue = (wanted: string) =>
    status?.conditions?.some(({ type, status: state }) => type === wanted && state === 'True') ?? false;
  const pressed = Object.entries(pressures).flatMap(([name, type]) => (isTrue(type) ? [name] : []));
  return spec?.unschedulable ? [...pressed, 'unschedulable'] : pressed;
}

/** An empty list of taints is left out. */
export function withTaints(
  { spec: { taints: _before, ...spec } = {}, ...node }: Node,
  taints: Taint[],
): Node {
  return { ...node, spec: taints.length === 0 ? spec : { ...spec, taints } };
}
