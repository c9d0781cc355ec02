import type { ClusterState } from '../cluster/cluster-state.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod, PodFacts } from '../cluster/pod-facts.ts';

/** Why a pod cannot run on a node; the reasons are the reference's texts. */
export interface Verdict {
  readonly reasons: readonly string[];
  /** Whether that stays so however many pods of the node end. */
  readonly isFinal: boolean;
}

/** One of the rules that a node must meet; named as in the reference. */
export interface Filter {
  readonly name: string;
  /** Undefined: the rule does not concern the pod. */
  begin(pod: PendingPod, cluster: ClusterState): FilterRun | Refusal | undefined;
}

/** Why a pod cannot run on any node; asked before the nodes are. */
export interface Refusal {
  readonly refusal: string;
}

/** A rule for one pod. */
export interface FilterRun {
  /** Undefined: the node meets it. */
  check(node: NodeState): Verdict | undefined;
  /** The names of the only nodes that can meet it. */
  readonly only?: ReadonlySet<string>;
  /** For a rule that counts pods of the whole cluster: a copy, whose counts can be changed to ask what if. */
  copy?(): FilterRun;
  /** Counts a pod on a node in (1) or out (-1). */
  count?(pod: PodFacts, node: NodeState, by: 1 | -1): void;
}

/** One that always says the same. */
export const verdict = (isFinal: boolean, ...reasons: string[]): Verdict => ({ reasons, isFinal });
