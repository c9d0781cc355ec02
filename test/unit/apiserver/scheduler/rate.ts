/** Asks the scores of the scheduler, for tables. */
import assert from 'node:assert/strict';
import { scores } from '../../../../src/apiserver/scheduler/scores/index.ts';
import type { ClusterWords, PodWords } from './cluster.ts';
import { makeCluster, pending } from './cluster.ts';

/** The score of each node, in order; `undefined`: it says nothing of the pod. */
export function rate(name: string, pod: PodWords, words: ClusterWords): number[] | undefined {
  const cluster = makeCluster(words);
  const score = scores.find((each) => each.name === name);
  assert.ok(score !== undefined, name);
  const run = score.begin(pending(pod), cluster, cluster.nodes);
  if (run === undefined) return undefined;
  const own = cluster.nodes.map((node) => run.of(node));
  run.normalize?.(own, cluster.nodes);
  return own;
}
