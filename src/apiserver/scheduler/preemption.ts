import type { ObjectSelector } from '../../api/index.ts';
import { selectsLabels } from '../../api/index.ts';
import type { ClusterState } from './cluster/cluster-state.ts';
import type { NodeState } from './cluster/node-state.ts';
import type { PendingPod, PodFacts } from './cluster/pod-facts.ts';
import { describeVerdicts } from './describe.ts';
import type { FilterRun, Verdict } from './filters/index.ts';
import type { Nominations } from './nominations.ts';
import { WhatIf } from './what-if.ts';

/*
 * Where a pod could run if less important ones ended. Of each node that breaks no final rule: all less important pods are
 * supposed gone; when the pod fits then, they are put back one after the other, the most important and those of budgets
 * first, and those with which it does not fit are the victims.
 */

/** What counts of a PodDisruptionBudget. */
export interface Budget {
  readonly metadata?: { readonly namespace?: string | undefined } | undefined;
  readonly spec?: { readonly selector?: ObjectSelector | undefined } | undefined;
  readonly status?:
    | {
        readonly disruptionsAllowed?: number | undefined;
        readonly disruptedPods?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
}

/** The pods that end on a node so that another one can run there. */
export interface Victims {
  readonly node: NodeState;
  readonly pods: readonly PodFacts[];
  /** How many of them a budget would keep. */
  readonly violations: number;
}

/** What a pod is placed in. */
export interface World {
  readonly cluster: ClusterState;
  readonly nominations: Nominations;
  readonly budgets: readonly Budget[];
}

export interface PreemptionOptions extends World {
  readonly random: () => number;
}

const notHelpful: Verdict = { reasons: ['Preemption is not helpful for scheduling'], isFinal: true };
const noVictims: Verdict = { reasons: ['No preemption victims found for incoming pod'], isFinal: true };

/** Why nobody ends for a pod. */
export interface NoPreemption {
  /** In the reference's words. */
  readonly message: string;
  /** Whether pods are ending for it already, where it is nominated. */
  readonly isWaiting: boolean;
}

/** The victims that cost the least, or why there are none. */
export function choosePreemption(
  pod: PendingPod,
  verdicts: ReadonlyMap<string, Verdict>,
  rules: readonly FilterRun[],
  options: PreemptionOptions,
): Victims | NoPreemption {
  const { cluster } = options;
  const refusal = whyNotEligible(pod, verdicts, options);
  if (refusal !== undefined) return refusal;
  const refused = new Map<string, Verdict>();
  const candidates: Victims[] = [];
  const possible = cluster.nodes.filter((node) => isWorthAsking(node, verdicts, refused));
  const enough = Math.max(minCandidates, Math.floor(possible.length / 10));
  const startAt = Math.floor(options.random() * possible.length);
  let hasHarmless = false; // one that violates no budget
  for (let index = 0; index < possible.length; index++) {
    if (hasHarmless && candidates.length >= enough) break;
    const node = possible[(startAt + index) % possible.length];
    if (node === undefined) break;
    const found = findVictims(pod, node, rules, options);
    if ('reasons' in found) {
      refused.set(node.name, found);
      continue;
    }
    candidates.push(found);
    hasHarmless ||= found.violations === 0;
  }
  const [best] = candidates.sort(compareVictims);
  return best ?? { message: describeVerdicts(refused.values(), cluster.nodes.length), isWaiting: false };
}

/** So many nodes are enough to choose from, or a tenth of all, as in the reference. */
const minCandidates = 100;

function isWorthAsking(
  node: NodeState,
  verdicts: ReadonlyMap<string, Verdict>,
  refused: Map<string, Verdict>,
): boolean {
  if (verdicts.get(node.name)?.isFinal === false) return true;
  refused.set(node.name, notHelpful);
  return false;
}

/** A pod for which others are ending already waits for them, unless they could not help any more. */
function whyNotEligible(
  pod: PendingPod,
  verdicts: ReadonlyMap<string, Verdict>,
  { cluster, nominations }: PreemptionOptions,
): NoPreemption | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never')
    return { message: 'not eligible due to preemptionPolicy=Never.', isWaiting: false };
  const nominated = nominations.nodeOf(pod);
  const node = nominated === undefined ? undefined : cluster.node(nominated);
  if (node === undefined || verdicts.get(node.name)?.isFinal === true) return undefined;
  for (const other of node.pods.values()) {
    if (other.priority < pod.priority && other.isPreempted)
      return { message: 'not eligible due to a terminating pod on the nominated node.', isWaiting: true };
  }
  return undefined;
}

/** Who has to end on the node; the reason where that would not help. */
export function findVictims(
  pod: PodFacts,
  node: NodeState,
  rules: readonly FilterRun[],
  { nominations, budgets }: Pick<World, 'nominations' | 'budgets'>,
): Victims | Verdict {
  const lessImportant = [...node.pods.values()].filter(
    ({ priority, isMirror }) => priority < pod.priority && !isMirror,
  );
  if (lessImportant.length === 0) return noVictims;
  const then = new WhatIf(node, rules);
  for (const coming of nominations.on(node.name, pod)) then.add(coming);
  for (const other of lessImportant) then.remove(other);
  const wrong = then.check();
  if (wrong !== undefined) return wrong;
  const { kept, free } = divideByBudget(lessImportant.sort(compareImportance), budgets);
  const spare = (pods: readonly PodFacts[]) => pods.filter((each) => !canStay(each, then));
  const violating = spare(kept);
  return { node, pods: [...violating, ...spare(free)].sort(compareImportance), violations: violating.length };
}

/** Puts it back when the pod fits beside it. */
function canStay(pod: PodFacts, then: WhatIf): boolean {
  then.add(pod);
  if (then.check() === undefined) return true;
  then.remove(pod);
  return false;
}

/** Of the same priority, the one that runs for longer is more important. */
function compareImportance(a: PodFacts, b: PodFacts): number {
  return b.priority - a.priority || startOf(a) - startOf(b);
}

const startOf = ({ startedMs }: PodFacts) => startedMs ?? Number.MAX_SAFE_INTEGER;

/** In order, those that a budget would keep, and the others; each counts against its budgets. */
function divideByBudget(pods: readonly PodFacts[], budgets: readonly Budget[]) {
  const left = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const kept: PodFacts[] = [];
  const free: PodFacts[] = [];
  for (const pod of pods) {
    let isKept = false;
    for (const budget of budgets) {
      if (!isFor(budget, pod)) continue;
      const allowed = (left.get(budget) ?? 0) - 1;
      left.set(budget, allowed);
      isKept ||= allowed < 0;
    }
    (isKept ? kept : free).push(pod);
  }
  return { kept, free };
}

/** Selectors that are empty select nothing here, and pods without labels belong to none; one that is being disrupted is counted already. */
function isFor({ metadata, spec, status }: Budget, pod: PodFacts): boolean {
  if (metadata?.namespace !== pod.namespace || spec?.selector === undefined) return false;
  if (Object.keys(pod.labels).length === 0) return false;
  const { matchLabels = {}, matchExpressions = [] } = spec.selector;
  if (Object.keys(matchLabels).length + matchExpressions.length === 0) return false;
  return status?.disruptedPods?.[pod.name] === undefined && selectsLabels(spec.selector, pod.labels);
}

/**
 * In the order of the reference: fewest violations, the most important victim the least important, the least sum of
 * priorities, the fewest, and of these the one whose most important victims have run for the shortest time.
 */
export function compareVictims(a: Victims, b: Victims): number {
  const highest = ({ pods }: Victims) => pods[0]?.priority ?? Number.NEGATIVE_INFINITY;
  const sum = ({ pods }: Victims) => pods.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
  return (
    a.violations - b.violations ||
    compareNumbers(highest(a), highest(b)) ||
    sum(a) - sum(b) ||
    a.pods.length - b.pods.length ||
    earliestStart(b) - earliestStart(a)
  );
}

const compareNumbers = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0);

/** Of the victims of the highest priority. */
function earliestStart({ pods }: Victims): number {
  const highest = pods[0]?.priority;
  return Math.min(...pods.filter(({ priority }) => priority === highest).map(startOf));
}
