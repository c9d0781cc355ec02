import type { Pod } from '../../api/index.ts';
import { isActive, isReady, readySinceMs } from './pod-state.ts';

/** A whole number with which users say how dear a pod is; the cheaper one goes first. */
const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const costLimit = 2 ** 31;

/**
 * Pods in the order in which they are deleted when there are too many, as in the reference: without a node, not running,
 * not ready, cheaper, on a node with more pods of `related`, ready for a shorter time (to a power of two), restarted more
 * often, younger (to a power of two). `nowMs`: wall clock.
 */
export function inDeletionOrder(pods: readonly Pod[], related: readonly Pod[], nowMs: number): Pod[] {
  const onNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec?.nodeName;
    if (node && isActive(pod)) onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, onNode, nowMs) }));
  ranked.sort(
    (one, other) => compareRanks(one.rank, other.rank) || compareText(uidOf(one.pod), uidOf(other.pod)),
  );
  return ranked.map(({ pod }) => pod);
}

/** Smaller goes first; compared from the first number on. */
function rankOf(pod: Pod, onNode: ReadonlyMap<string, number>, nowMs: number): readonly number[] {
  const { nodeName = '' } = pod.spec ?? {};
  const { phase = '' } = pod.status ?? {};
  const statuses = pod.status ?? {};
  const ready = isReady(pod);
  return [
    nodeName === '' ? 0 : 1,
    phases.indexOf(phase),
    ready ? 1 : 0,
    deletionCost(pod),
    -(onNode.get(nodeName) ?? 0),
    ready ? magnitude(nowMs - (readySinceMs(pod) ?? nowMs)) : 0,
    -maxRestarts(statuses.containerStatuses),
    -maxRestarts(statuses.initContainerStatuses),
    magnitude(nowMs - Date.parse(pod.metadata?.creationTimestamp ?? '')),
  ];
}

const phases: readonly string[] = ['Pending', 'Unknown', 'Running'];

function deletionCost({ metadata }: Pod): number {
  const text = metadata?.annotations?.[costAnnotation] ?? '';
  const cost = /^-?\d+$/.test(text) ? Number(text) : 0;
  return Math.abs(cost) < costLimit ? cost : 0;
}

/** So that it is not always the youngest that goes: pods of about the same age are the same. */
function magnitude(ms: number): number {
  return ms > 0 ? Math.floor(Math.log2(ms * 1e6)) : -1; // in nanoseconds, as the reference counts
}

function maxRestarts(statuses: readonly { restartCount?: number }[] | undefined): number {
  return Math.max(0, ...(statuses ?? []).map(({ restartCount = 0 }) => restartCount));
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? '';
}
