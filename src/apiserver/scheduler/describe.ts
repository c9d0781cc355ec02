import type { Verdict } from './filters/index.ts';

/*
 * Why a pod cannot run, in the reference's words: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated
 * taint(s). preemption: 0/3 nodes are available: …`.
 */

export const noNodes = 'no nodes available to schedule pods';

/** `0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.` */
export function describeVerdicts(verdicts: Iterable<Verdict>, nodeCount: number): string {
  const times = new Map<Verdict, number>(); // mostly the same few objects
  for (const verdict of verdicts) times.set(verdict, (times.get(verdict) ?? 0) + 1);
  const counts = new Map<string, number>();
  for (const [{ reasons }, count] of times)
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + count);
  const counted = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available:${counted.length === 0 ? '' : ` ${counted.join(', ')}.`}`;
}

/** `0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.` */
export function describeRefusal(refusal: string, nodeCount: number): string {
  return `0/${nodeCount} nodes are available: ${refusal}.`;
}
