import type { ClusterState } from '../cluster/cluster-state.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod } from '../cluster/pod-facts.ts';

/** The best that a score can say of a node. */
export const maxScore = 100;

/** How good a node is for a pod, by one measure; named as in the reference. */
export interface Score {
  readonly name: string;
  readonly weight: number;
  /** `nodes`: those that meet all rules. Undefined: the measure says nothing of this pod. */
  begin(pod: PendingPod, cluster: ClusterState, nodes: readonly NodeState[]): ScoreRun | undefined;
}

export interface ScoreRun {
  /** Before `normalize` any number, after it 0 to 100. */
  of(node: NodeState): number;
  /** In place. */
  normalize?(scores: number[], nodes: readonly NodeState[]): void;
}

/** The highest becomes 100 and the others in proportion; `reversed`: the fewer the better. */
export function scaleToMax(scores: number[], { reversed }: { reversed: boolean }): void {
  const max = scores.reduce((most, score) => Math.max(most, score), 0);
  for (const [index, score] of scores.entries()) {
    const scaled = max === 0 ? 0 : Math.floor((score * maxScore) / max);
    scores[index] = reversed ? maxScore - scaled : scaled;
  }
}
