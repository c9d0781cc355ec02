import type { ClusterLookups } from '../cluster/cluster-state.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod } from '../cluster/pod-facts.ts';
import type { SpreadConstraint } from '../cluster/terms.ts';
import { countSelected, isCounted } from '../filters/index.ts';
import type { Score } from './score.ts';
import { maxScore } from './score.ts';

const hostname = 'kubernetes.io/hostname';

/** The fewer pods that a constraint selects are in the node's domain, the better. */
export const topologySpread: Score = {
  name: 'PodTopologySpread',
  weight: 2,
  begin(pod, cluster, nodes) {
    const isOwn = pod.spread.some(({ isRequired }) => !isRequired);
    const constraints = isOwn
      ? pod.spread.filter(({ isRequired }) => !isRequired)
      : defaultConstraints(pod, cluster.lookups);
    if (constraints.length === 0) return undefined;
    // by its own constraints, a node must have all labels to be scored; by the default ones it need not
    const isScored = ({ facts }: NodeState) =>
      !isOwn || constraints.every(({ topologyKey }) => facts.labels[topologyKey] !== undefined);
    const domains = constraints.map(
      (constraint) => new ScoredDomains(pod, constraint, nodes.filter(isScored)),
    );
    for (const node of cluster.nodes) {
      if (!isScored(node)) continue;
      for (const each of domains) each.count(node);
    }
    return {
      of: (node) =>
        isScored(node) ? Math.round(domains.reduce((sum, each) => sum + each.scoreOf(node), 0)) : Number.NaN,
      normalize,
    };
  },
};

/** Nodes that lack a label are the worst; of the others the one with the fewest pods is the best. */
function normalize(scores: number[]): void {
  const known = scores.filter((score) => !Number.isNaN(score));
  const [min, max] = known.reduce(
    ([least, most], score) => [Math.min(least, score), Math.max(most, score)],
    [Number.POSITIVE_INFINITY, 0],
  );
  for (const [index, score] of scores.entries()) {
    if (Number.isNaN(score)) scores[index] = 0;
    else scores[index] = max === 0 ? maxScore : Math.floor((maxScore * (max + min - score)) / max);
  }
}

/** The number of pods by domain, for the domains of the nodes that are scored. */
class ScoredDomains {
  readonly #pod: PendingPod;
  readonly #constraint: SpreadConstraint;
  readonly #counts = new Map<string, number>();
  readonly #weight: number;

  constructor(pod: PendingPod, constraint: SpreadConstraint, nodes: readonly NodeState[]) {
    this.#pod = pod;
    this.#constraint = constraint;
    for (const { facts } of nodes) {
      const domain = facts.labels[constraint.topologyKey];
      if (domain !== undefined) this.#counts.set(domain, 0);
    }
    // many domains have few pods each: without the weight they would count less than few domains
    const size = constraint.topologyKey === hostname ? nodes.length : this.#counts.size;
    this.#weight = Math.log(size + 2);
  }

  count(node: NodeState): void {
    const domain = node.facts.labels[this.#constraint.topologyKey];
    const known = domain === undefined ? undefined : this.#counts.get(domain);
    if (domain === undefined || known === undefined) return;
    if (!isCounted(this.#pod, this.#constraint, node.facts)) return;
    this.#counts.set(domain, known + countSelected(this.#pod, node, this.#constraint));
  }

  scoreOf({ facts }: NodeState): number {
    const domain = facts.labels[this.#constraint.topologyKey];
    if (domain === undefined) return 0;
    return (this.#counts.get(domain) ?? 0) * this.#weight + (this.#constraint.maxSkew - 1);
  }
}

/** What a pod is spread by that says nothing of it, if a Service or a controller has it: by hosts, and more so by zones. */
function defaultConstraints(pod: PendingPod, { selectorsOf }: ClusterLookups): readonly SpreadConstraint[] {
  if (pod.spread.length > 0) return [];
  const selectors = selectorsOf(pod);
  if (selectors.length === 0) return [];
  const common = {
    minDomains: 1,
    isRequired: false,
    honorsAffinity: true,
    honorsTaints: false,
    selects: (labels: Readonly<Record<string, string>>) => selectors.every((selects) => selects(labels)),
  };
  return [
    { ...common, topologyKey: hostname, maxSkew: 3 },
    { ...common, topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
  ];
}
