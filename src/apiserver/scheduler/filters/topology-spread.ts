import { matchesNode, tolerates } from '../../../api/index.ts';
import type { ClusterState } from '../cluster/cluster-state.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod, PodFacts } from '../cluster/pod-facts.ts';
import type { SpreadConstraint } from '../cluster/terms.ts';
import type { Filter, FilterRun, Verdict } from './filter.ts';
import { verdict } from './filter.ts';

const skewed = verdict(false, "node(s) didn't match pod topology spread constraints");
const unlabelled = verdict(
  true,
  "node(s) didn't match pod topology spread constraints (missing required label)",
);

/** How many pods that a constraint selects are in each domain: by value of its topology key. */
class Domains {
  readonly constraint: SpreadConstraint;
  readonly #counts: Map<string, number>;
  /** Of `least`, until a count changes. */
  #known: number | undefined;

  constructor(constraint: SpreadConstraint, counts = new Map<string, number>()) {
    this.constraint = constraint;
    this.#counts = counts;
  }

  copy(): Domains {
    return new Domains(this.constraint, new Map(this.#counts));
  }

  add(domain: string, count: number): void {
    this.#counts.set(domain, (this.#counts.get(domain) ?? 0) + count);
    this.#known = undefined;
  }

  has(domain: string): boolean {
    return this.#counts.has(domain);
  }

  count(domain: string): number {
    return this.#counts.get(domain) ?? 0;
  }

  /** Of the domain with the fewest; none while there are less domains than the pod asks for. */
  get least(): number {
    this.#known ??= this.#counts.size < this.constraint.minDomains ? 0 : smallest(this.#counts.values());
    return this.#known;
  }
}

function smallest(counts: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts) least = Math.min(least, count);
  return Number.isFinite(least) ? least : 0;
}

export const topologySpread: Filter = {
  name: 'PodTopologySpread',
  begin(pod, cluster) {
    const constraints = pod.spread.filter(({ isRequired }) => isRequired);
    return constraints.length === 0 ? undefined : new SpreadRun(pod, countDomains(pod, constraints, cluster));
  },
};

class SpreadRun implements FilterRun {
  readonly #pod: PendingPod;
  readonly #domains: readonly Domains[];

  constructor(pod: PendingPod, domains: readonly Domains[]) {
    this.#pod = pod;
    this.#domains = domains;
  }

  check({ facts }: NodeState): Verdict | undefined {
    for (const domains of this.#domains) {
      const { topologyKey, maxSkew, selects } = domains.constraint;
      const domain = facts.labels[topologyKey];
      if (domain === undefined) return unlabelled;
      const own = selects(this.#pod.labels) ? 1 : 0;
      if (domains.count(domain) + own - domains.least > maxSkew) return skewed;
    }
    return undefined;
  }

  copy(): FilterRun {
    return new SpreadRun(
      this.#pod,
      this.#domains.map((each) => each.copy()),
    );
  }

  count(other: PodFacts, { facts }: NodeState, by: 1 | -1): void {
    if (
      !hasAllKeys(
        facts,
        this.#domains.map(({ constraint }) => constraint),
      )
    )
      return;
    for (const domains of this.#domains) {
      const domain = facts.labels[domains.constraint.topologyKey];
      // one of a node that does not count
      if (domain === undefined || !domains.has(domain) || !isCounted(this.#pod, domains.constraint, facts))
        continue;
      if (isAmong(this.#pod, other, domains.constraint)) domains.add(domain, by);
    }
  }
}

function countDomains(
  pod: PendingPod,
  constraints: readonly SpreadConstraint[],
  cluster: ClusterState,
): readonly Domains[] {
  const all = constraints.map((constraint) => new Domains(constraint));
  for (const node of cluster.nodes) {
    if (!hasAllKeys(node.facts, constraints)) continue;
    for (const domains of all) {
      const { constraint } = domains;
      if (!isCounted(pod, constraint, node.facts)) continue;
      domains.add(node.facts.labels[constraint.topologyKey] ?? '', countSelected(pod, node, constraint));
    }
  }
  return all;
}

/** Only nodes that have the labels of all constraints form domains. */
function hasAllKeys({ labels }: NodeState['facts'], constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined);
}

/** Whether the pods of a node count, and its domain. */
export function isCounted(
  { pod }: PendingPod,
  { honorsAffinity, honorsTaints }: SpreadConstraint,
  facts: NodeState['facts'],
): boolean {
  if (honorsAffinity && !matchesNode(pod, facts)) return false;
  return (
    !honorsTaints ||
    facts.taints.every((taint) => taint.effect === 'PreferNoSchedule' || tolerates(pod, taint))
  );
}

/** How many pods of the node a constraint selects. */
export function countSelected(pod: PodFacts, node: NodeState, constraint: SpreadConstraint): number {
  let count = 0;
  for (const other of node.pods.values()) if (isAmong(pod, other, constraint)) count++;
  return count;
}

/** One that ends does not count: its successor may take its place. */
function isAmong(pod: PodFacts, other: PodFacts, { selects }: SpreadConstraint): boolean {
  return other.namespace === pod.namespace && !other.isLeaving && selects(other.labels);
}
