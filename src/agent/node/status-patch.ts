import { isDeepStrictEqual } from 'node:util';
import type { NodeCondition, NodeStatus } from '../../api/index.ts';

/**
 * Computes the strategic merge patch from one status to the next: conditions that differ, which are merged by their type;
 * members of maps that differ; lists without a key as a whole. What is not in `next` is not removed, except for what only
 * the agent writes: images, runtimeHandlers, volumesInUse, nodeInfo.swap.
 */
export function computeStatusPatch(before: NodeStatus, next: NodeStatus): Record<string, unknown> {
  const { conditions = [], addresses = [], nodeInfo = {}, ...rest } = next;
  const parts: Record<string, unknown> = changedMembers(before, rest);
  for (const name of ['capacity', 'allocatable'] as const) {
    if (parts[name] !== undefined) parts[name] = changedMembers(before[name] ?? {}, next[name] ?? {});
  }
  const conditionsNow = conditions.filter((condition) => !includesCondition(before.conditions, condition));
  if (conditionsNow.length > 0) parts['conditions'] = conditionsNow;
  // several addresses may have one type, which is the key of the list: merged, one of them would win
  if (!isDeepStrictEqual(before.addresses ?? [], addresses))
    parts['addresses'] = [...addresses, { $patch: 'replace' }];
  const info = changedMembers(before.nodeInfo ?? {}, nodeInfo);
  for (const name of ['images', 'runtimeHandlers', 'volumesInUse'] as const)
    if (before[name] !== undefined && next[name] === undefined) parts[name] = null;
  if (before.nodeInfo?.swap !== undefined && next.nodeInfo?.swap === undefined) info['swap'] = null;
  if (Object.keys(info).length > 0) parts['nodeInfo'] = info;
  return parts;
}

function includesCondition(conditions: readonly NodeCondition[] = [], wanted: NodeCondition): boolean {
  return conditions.some((condition) => isDeepStrictEqual(condition, wanted));
}

function changedMembers(before: object, next: object): Record<string, unknown> {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(
    Object.entries(next).filter(([key, value]) => !isDeepStrictEqual(old.get(key), value)),
  );
}
