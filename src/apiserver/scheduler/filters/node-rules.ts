import type { NodeSelectorTerm } from '../../../api/index.ts';
import { havePortInCommon, matchesNode, tolerates } from '../../../api/index.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { Filter, Refusal, Verdict } from './filter.ts';
import { verdict } from './filter.ts';

/* The rules that look at one node and at nothing else. */

/** Nothing here allocates devices to claims, and without their allocation the pod would never start. */
export const dynamicResources: Filter = {
  name: 'DynamicResources',
  begin: ({ pod }) =>
    (pod.spec?.resourceClaims ?? []).length === 0
      ? undefined
      : { refusal: 'pod has resource claims (spec.resourceClaims), which this scheduler does not allocate' },
};

const cordoned = verdict(true, 'node(s) were unschedulable');

export const nodeUnschedulable: Filter = {
  name: 'NodeUnschedulable',
  begin: ({ pod }, { lookups }) =>
    tolerates(pod, { key: lookups.unschedulableTaint, effect: 'NoSchedule' })
      ? undefined
      : { check: ({ facts }) => (facts.isUnschedulable ? cordoned : undefined) },
};

const tainted = verdict(true, 'node(s) had untolerated taint(s)');

export const taintToleration: Filter = {
  name: 'TaintToleration',
  begin: ({ pod }) => ({
    check: ({ facts }) =>
      facts.taints.some((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(pod, taint))
        ? tainted
        : undefined,
  }),
};

const otherNode = verdict(true, "node(s) didn't match Pod's node affinity/selector");

export const nodeAffinity: Filter = {
  name: 'NodeAffinity',
  begin({ pod }) {
    const { nodeSelector = {}, affinity } = pod.spec ?? {};
    const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (required === undefined && Object.keys(nodeSelector).length === 0) return undefined;
    const only = namedNodes(required?.nodeSelectorTerms ?? []);
    if (only?.size === 0) return conflicting;
    return {
      check: ({ facts }) => (matchesNode(pod, facts) ? undefined : otherNode),
      ...(only === undefined ? {} : { only }),
    };
  },
};

const conflicting: Refusal = { refusal: 'pod affinity terms conflict' };

/** Where each term names nodes, as those of daemons do: all of these. Undefined: it can be any node. */
function namedNodes(terms: readonly NodeSelectorTerm[]): ReadonlySet<string> | undefined {
  const all = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const named = matchFields
      .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      .map(({ values = [] }) => new Set(values));
    const [first, ...others] = named;
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((each) => each.has(name))) all.add(name);
  }
  return terms.length === 0 ? undefined : all;
}

const takenPorts = verdict(false, "node(s) didn't have free ports for the requested pod ports");

export const nodePorts: Filter = {
  name: 'NodePorts',
  begin: ({ ports }) =>
    ports.length === 0
      ? undefined
      : {
          check: ({ pods }) => (hasTaken(ports, pods.values()) ? takenPorts : undefined),
        },
};

function hasTaken(ports: PodFacts['ports'], pods: Iterable<PodFacts>): boolean {
  for (const other of pods) if (other.ports.length > 0 && havePortInCommon(ports, other.ports)) return true;
  return false;
}

const tooManyPods = 'Too many pods';

/** The amounts that the node still has. */
export const nodeResourcesFit: Filter = {
  name: 'NodeResourcesFit',
  begin({ requests }) {
    const shared = new SharedVerdicts(); // thousands of nodes mostly lack the same
    return {
      check(node) {
        const { allocatable } = node.facts;
        const isFull = node.pods.size + 1 > (allocatable.get('pods') ?? 0);
        let reasons: string[] | undefined;
        let isFinal = false;
        for (const [resource, amount] of requests) {
          const has = allocatable.get(resource) ?? 0;
          if (amount <= has - node.requested(resource)) continue;
          reasons ??= [];
          reasons.push(`Insufficient ${resource}`);
          isFinal ||= amount > has;
        }
        if (!isFull && reasons === undefined) return undefined;
        return shared.of([...(isFull ? [tooManyPods] : []), ...(reasons ?? [])], isFinal);
      },
    };
  },
};

/** Equal verdicts are one object. */
class SharedVerdicts {
  readonly #known = new Map<string, Verdict>();

  of(reasons: readonly string[], isFinal: boolean): Verdict {
    const key = `${isFinal} ${reasons.length === 1 ? reasons[0] : reasons.join()}`;
    const known = this.#known.get(key) ?? { reasons, isFinal };
    this.#known.set(key, known);
    return known;
  }
}
