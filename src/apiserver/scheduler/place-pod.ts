import type { ClusterState } from './cluster/cluster-state.ts';
import type { NodeState } from './cluster/node-state.ts';
import type { PendingPod, PodFacts } from './cluster/pod-facts.ts';
import type { FilterRun, Refusal, Verdict } from './filters/index.ts';
import { filters } from './filters/index.ts';
import type { Nominations } from './nominations.ts';
import { scores } from './scores/index.ts';
import { firstBroken, WhatIf } from './what-if.ts';

/** Where a pod goes, or why it cannot. */
export type Placement =
  | { readonly node: NodeState }
  /** No node can run it; `refusal`: whatever the nodes are. */
  | { readonly refusal: string }
  | { readonly verdicts: ReadonlyMap<string, Verdict>; readonly rules: readonly FilterRun[] };

export interface PlacingOptions {
  readonly cluster: ClusterState;
  readonly nominations: Nominations;
  /** 0 to 1, of equally good nodes. */
  readonly random: () => number;
  /** Where in the list of nodes the search begins; the next pod's begins where this one's ended. */
  readonly startAt: number;
}

/** How many nodes are looked for before one is chosen: all of a small cluster, fewer of a large one. As in the reference. */
export function enoughNodes(count: number): number {
  const minimum = 100;
  if (count < minimum) return count;
  const percent = Math.max(5, Math.floor(50 - count / 125));
  return Math.max(minimum, Math.floor((count * percent) / 100));
}

/** Finds the best of the nodes that meet all rules. Pure: it changes nothing, and reads no clock. */
export function placePod(
  pod: PendingPod,
  options: PlacingOptions,
): Placement & { readonly searched: number } {
  const { cluster, nominations } = options;
  const begun = beginRules(pod, cluster);
  if ('refusal' in begun) return { ...begun, searched: 0 };
  const { rules, only } = begun;
  const nominated = nominations.nodeOf(pod);
  const own = nominated === undefined ? undefined : cluster.node(nominated);
  if (own !== undefined && checkNode(pod, own, rules, nominations) === undefined)
    return { node: own, searched: 0 };
  const verdicts = new Map<string, Verdict>();
  const fitting: NodeState[] = [];
  const nodes = only === undefined ? cluster.nodes : [...only].flatMap((name) => cluster.node(name) ?? []);
  const enough = enoughNodes(nodes.length);
  let searched = 0;
  for (; searched < nodes.length && fitting.length < enough; searched++) {
    const node = nodes[(options.startAt + searched) % nodes.length];
    if (node === undefined) break;
    const wrong = checkNode(pod, node, rules, nominations);
    if (wrong === undefined) fitting.push(node);
    else verdicts.set(node.name, wrong);
  }
  const best = fitting.length <= 1 ? fitting[0] : chooseBest(pod, fitting, options);
  if (best === undefined && only !== undefined) excludeOthers(only, cluster, verdicts);
  return best === undefined ? { verdicts, rules, searched } : { node: best, searched };
}

export interface Rules {
  readonly rules: readonly FilterRun[];
  /** The names of the filters that they are of. */
  readonly filters: readonly string[];
  /** The names of the only nodes that can do; undefined: any. */
  readonly only: ReadonlySet<string> | undefined;
}

/** The rules that concern a pod, or why it can run nowhere. */
export function beginRules(
  pod: PendingPod,
  cluster: ClusterState,
): Rules | (Refusal & { readonly filter: string }) {
  const rules: FilterRun[] = [];
  const names: string[] = [];
  let only: ReadonlySet<string> | undefined;
  for (const filter of filters) {
    const run = filter.begin(pod, cluster);
    if (run === undefined) continue;
    if ('refusal' in run) return { ...run, filter: filter.name };
    rules.push(run);
    names.push(filter.name);
    if (run.only !== undefined) only = only === undefined ? run.only : only.intersection(run.only);
  }
  return { rules, filters: names, only };
}

const notAmong: Verdict = { reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"], isFinal: true };

function excludeOthers(
  only: ReadonlySet<string>,
  cluster: ClusterState,
  verdicts: Map<string, Verdict>,
): void {
  for (const { name } of cluster.nodes) if (!only.has(name)) verdicts.set(name, notAmong);
}

/** Whether the node is none of the only ones. */
export function isExcluded(only: ReadonlySet<string> | undefined, name: string): Verdict | undefined {
  return only === undefined || only.has(name) ? undefined : notAmong;
}

/** The first rule that the node breaks; room is kept for pods that are to come there and are at least as important. */
export function checkNode(
  pod: PodFacts,
  node: NodeState,
  rules: readonly FilterRun[],
  nominations: Nominations,
): Verdict | undefined {
  const coming = nominations.on(node.name, pod);
  if (coming.length > 0) {
    const then = new WhatIf(node, rules);
    for (const each of coming) then.add(each);
    const wrong = then.check();
    if (wrong !== undefined) return wrong;
  }
  return firstBroken(node, rules);
}

/** The one with the highest sum of scores; one of them at random where several have it. */
function chooseBest(
  pod: PendingPod,
  nodes: readonly NodeState[],
  { cluster, random }: PlacingOptions,
): NodeState | undefined {
  const totals = scoreNodes(pod, nodes, cluster);
  const most = totals.reduce((max, total) => Math.max(max, total), Number.NEGATIVE_INFINITY);
  const best = nodes.filter((_, index) => totals[index] === most);
  return best[Math.min(best.length - 1, Math.floor(random() * best.length))];
}

/** The sum of the scores of each node, in the order of `nodes`. */
export function scoreNodes(pod: PendingPod, nodes: readonly NodeState[], cluster: ClusterState): number[] {
  const totals = nodes.map(() => 0);
  for (const { begin, weight } of scores) {
    const run = begin(pod, cluster, nodes);
    if (run === undefined) continue;
    const own = nodes.map((node) => run.of(node));
    run.normalize?.(own, nodes);
    for (const [index, score] of own.entries()) totals[index] = (totals[index] ?? 0) + weight * score;
  }
  return totals;
}
