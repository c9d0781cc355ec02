/** Asks the filters of the scheduler, for tables. */
import { Nominations } from '../../../../src/apiserver/scheduler/nominations.ts';
import { beginRules, checkNode } from '../../../../src/apiserver/scheduler/place-pod.ts';
import type { ClusterWords, NodeWords, PodWords } from './cluster.ts';
import { makeCluster, pending } from './cluster.ts';

export const fits = 'fits';

/** By node, its reasons and whether they are final; or why no node is asked. */
export function judge(pod: PodWords, words: ClusterWords): Record<string, string> | string {
  const cluster = makeCluster(words);
  const incoming = pending(pod);
  const begun = beginRules(incoming, cluster);
  if ('refusal' in begun) return begun.refusal;
  return Object.fromEntries(
    cluster.nodes.map((node) => {
      const verdict = checkNode(incoming, node, begun.rules, new Nominations());
      const text = verdict?.reasons.join(', ') ?? 'fits';
      return [node.name, verdict?.isFinal === true ? `${text} (final)` : text];
    }),
  );
}

/** Of a cluster of one node. */
export const judgeOne = (pod: PodWords, node: NodeWords, pods: readonly PodWords[] = []) => {
  const verdicts = judge(pod, { nodes: { n: node }, pods: pods.map((each) => ({ node: 'n', ...each })) });
  return typeof verdicts === 'string' ? verdicts : verdicts['n'];
};

/** The nodes that pass. */
export const passing = (verdicts: Record<string, string> | string) =>
  typeof verdicts === 'string'
    ? verdicts
    : Object.keys(verdicts)
        .filter((name) => verdicts[name] === fits)
        .join(' ');
