import type { ClusterState } from '../cluster/cluster-state.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { Term } from '../cluster/terms.ts';
import type { Score } from './score.ts';
import { maxScore } from './score.ts';

/** What another pod's required term counts, beside the preferred ones. */
const requiredWeight = 1;

/** The more pods are near that want to be, and the fewer that do not, the better; by the terms of both sides. */
export const interPodAffinity: Score = {
  name: 'InterPodAffinity',
  weight: 2,
  begin(pod, cluster) {
    const weights = new PlaceWeights();
    const { namespaceLabels } = cluster.lookups;
    for (const { pod: other, node } of otherPods(pod, cluster)) {
      for (const { term, weight } of pod.preferNear)
        if (term.selects(other, namespaceLabels)) weights.add(term, node, weight);
      for (const { term, weight } of pod.preferApart)
        if (term.selects(other, namespaceLabels)) weights.add(term, node, -weight);
    }
    for (const { pod: other, node } of cluster.choosyPods) {
      for (const term of other.near)
        if (term.selects(pod, namespaceLabels)) weights.add(term, node, requiredWeight);
      for (const { term, weight } of other.preferNear)
        if (term.selects(pod, namespaceLabels)) weights.add(term, node, weight);
      for (const { term, weight } of other.preferApart)
        if (term.selects(pod, namespaceLabels)) weights.add(term, node, -weight);
    }
    if (weights.isEmpty) return undefined;
    return { of: (node) => weights.sum(node), normalize };
  },
};

function* otherPods({ preferNear, preferApart }: PodFacts, { nodes }: ClusterState) {
  if (preferNear.length + preferApart.length === 0) return;
  for (const node of nodes) for (const pod of node.pods.values()) yield { pod, node };
}

/** The lowest becomes 0, the highest 100. */
function normalize(scores: number[]): void {
  const [min, max] = scores.reduce(
    ([least, most], score) => [Math.min(least, score), Math.max(most, score)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  for (const [index, score] of scores.entries()) {
    scores[index] = max > min ? Math.floor((maxScore * (score - min)) / (max - min)) : 0;
  }
}

/** By label of nodes and its value. */
class PlaceWeights {
  readonly #byKey = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  add({ topologyKey }: Term, { facts }: NodeState, weight: number): void {
    const value = facts.labels[topologyKey];
    if (value === undefined) return;
    const byValue = this.#byKey.get(topologyKey) ?? new Map<string, number>();
    this.#byKey.set(topologyKey, byValue.set(value, (byValue.get(value) ?? 0) + weight));
  }

  sum({ facts }: NodeState): number {
    let sum = 0;
    for (const [key, byValue] of this.#byKey) sum += byValue.get(facts.labels[key] ?? '') ?? 0;
    return sum;
  }
}
