import type { NodeState } from '../cluster/node-state.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { NamespaceLabels, Term } from '../cluster/terms.ts';
import type { Filter, FilterRun, Verdict } from './filter.ts';
import { verdict } from './filter.ts';

const notNear = verdict(true, "node(s) didn't match pod affinity rules");
const notApart = verdict(false, "node(s) didn't match pod anti-affinity rules");
const refusedByOthers = verdict(false, "node(s) didn't satisfy existing pods anti-affinity rules");

export const interPodAffinity: Filter = {
  name: 'InterPodAffinity',
  begin(pod, cluster) {
    const run = new AffinityRun(pod, cluster.lookups.namespaceLabels);
    const hasOwn = pod.near.length + pod.apart.length > 0;
    if (hasOwn) {
      for (const node of cluster.nodes) for (const other of node.pods.values()) run.countOwn(other, node, 1);
    }
    for (const { pod: other, node } of cluster.choosyPods) run.countOther(other, node, 1);
    return hasOwn || run.isRefusedSomewhere ? run : undefined;
  },
};

/** Counts by place: `KEY=VALUE` of a label of nodes. */
class Places {
  readonly #counts: Map<string, number>;

  constructor(counts: ReadonlyMap<string, number> = new Map()) {
    this.#counts = new Map(counts);
  }

  get size(): number {
    return this.#counts.size;
  }

  copy(): Places {
    return new Places(this.#counts);
  }

  add({ topologyKey }: Term, { facts }: NodeState, by: 1 | -1): void {
    const value = facts.labels[topologyKey];
    if (value === undefined) return;
    const place = `${topologyKey}=${value}`;
    const count = (this.#counts.get(place) ?? 0) + by;
    if (count > 0) this.#counts.set(place, count);
    else this.#counts.delete(place);
  }

  has({ topologyKey }: Term, { facts }: NodeState): boolean {
    const value = facts.labels[topologyKey];
    return value !== undefined && this.#counts.has(`${topologyKey}=${value}`);
  }

  /** Whether the node is at one of the places. */
  includes({ facts }: NodeState): boolean {
    if (this.#counts.size === 0) return false;
    return Object.entries(facts.labels).some(([key, value]) => this.#counts.has(`${key}=${value}`));
  }
}

class AffinityRun implements FilterRun {
  readonly #pod: PodFacts;
  readonly #namespaces: NamespaceLabels;
  /** Where pods are that all terms of the pod select. */
  readonly #near: Places;
  /** Where pods are that the pod wants apart. */
  readonly #apart: Places;
  /** Where pods are that want this one apart. */
  readonly #refused: Places;

  constructor(
    pod: PodFacts,
    namespaces: NamespaceLabels,
    { near, apart, refused } = { near: new Places(), apart: new Places(), refused: new Places() },
  ) {
    this.#pod = pod;
    this.#namespaces = namespaces;
    this.#near = near;
    this.#apart = apart;
    this.#refused = refused;
  }

  get isRefusedSomewhere(): boolean {
    return this.#refused.size > 0;
  }

  check(node: NodeState): Verdict | undefined {
    if (!this.#isNear(node)) return notNear;
    if (this.#pod.apart.some((term) => this.#apart.has(term, node))) return notApart;
    return this.#refused.includes(node) ? refusedByOthers : undefined;
  }

  /** The first of a group, which wants to be near its own like, has nobody to be near to yet. */
  #isNear(node: NodeState): boolean {
    const { near } = this.#pod;
    if (near.length === 0) return true;
    if (near.some(({ topologyKey }) => node.facts.labels[topologyKey] === undefined)) return false;
    if (near.every((term) => this.#near.has(term, node))) return true;
    return this.#near.size === 0 && selectedByAll(near, this.#pod, this.#namespaces);
  }

  copy(): FilterRun {
    return new AffinityRun(this.#pod, this.#namespaces, {
      near: this.#near.copy(),
      apart: this.#apart.copy(),
      refused: this.#refused.copy(),
    });
  }

  count(other: PodFacts, node: NodeState, by: 1 | -1): void {
    this.countOwn(other, node, by);
    this.countOther(other, node, by);
  }

  /** By the terms of the pod itself. */
  countOwn(other: PodFacts, node: NodeState, by: 1 | -1): void {
    const { near, apart } = this.#pod;
    if (near.length > 0 && selectedByAll(near, other, this.#namespaces)) {
      for (const term of near) this.#near.add(term, node, by);
    }
    for (const term of apart) if (term.selects(other, this.#namespaces)) this.#apart.add(term, node, by);
  }

  /** By the terms of the other one. */
  countOther(other: PodFacts, node: NodeState, by: 1 | -1): void {
    for (const term of other.apart)
      if (term.selects(this.#pod, this.#namespaces)) this.#refused.add(term, node, by);
  }
}

function selectedByAll(terms: readonly Term[], pod: PodFacts, namespaces: NamespaceLabels): boolean {
  return terms.every((term) => term.selects(pod, namespaces));
}
