import { matchesTerms, tolerates } from '../../../api/index.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { Score } from './score.ts';
import { maxScore, scaleToMax } from './score.ts';

/* The measures that look at one node and its pods. */

export const taintToleration: Score = {
  name: 'TaintToleration',
  weight: 3,
  begin: ({ pod }, _cluster, nodes) => {
    const disliked = ({ facts }: NodeState) =>
      facts.taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod, taint)).length;
    if (nodes.every((node) => disliked(node) === 0)) return undefined;
    return { of: disliked, normalize: (scores) => scaleToMax(scores, { reversed: true }) };
  },
};

export const nodeAffinity: Score = {
  name: 'NodeAffinity',
  weight: 2,
  begin({ pod }) {
    const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (preferred.length === 0) return undefined;
    return {
      of: ({ facts }) =>
        preferred.reduce(
          (sum, { weight, preference }) => (matchesTerms([preference], facts) ? sum + weight : sum),
          0,
        ),
      normalize: (scores) => scaleToMax(scores, { reversed: false }),
    };
  },
};

const counted = ['cpu', 'memory'] as const;

/** The more is left of cpu and memory, the better. */
export const resourcesLeft: Score = {
  name: 'NodeResourcesFit',
  weight: 1,
  begin: ({ scored }) => ({
    of({ facts, scored: used }) {
      const parts: number[] = [];
      for (const resource of counted) {
        const capacity = facts.allocatable.get(resource) ?? 0;
        if (capacity === 0) continue;
        const left = capacity - used[resource] - scored[resource];
        parts.push(left < 0 ? 0 : Math.floor((left * maxScore) / capacity));
      }
      return parts.length === 0 ? 0 : Math.floor(parts.reduce((sum, part) => sum + part, 0) / parts.length);
    },
  }),
};

/** The more alike the shares of cpu and memory are that are requested, the better. */
export const balancedAllocation: Score = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  begin(pod) {
    if (counted.every((resource) => !pod.requests.has(resource))) return undefined;
    return { of: (node) => Math.floor((1 - deviationOf(shares(pod, node))) * maxScore) };
  },
};

function shares(pod: PodFacts, node: NodeState): number[] {
  return counted.flatMap((resource) => {
    const capacity = node.facts.allocatable.get(resource) ?? 0;
    if (capacity === 0) return [];
    return [Math.min(1, (node.requested(resource) + (pod.requests.get(resource) ?? 0)) / capacity)];
  });
}

/** Of at most two. */
function deviationOf([first = 0, second = first]: readonly number[]): number {
  return Math.abs(first - second) / 2;
}

const megabyte = 1024 * 1024;
/** Less than this on a node counts for nothing, more for no more; by container. */
const imageBytes = { least: 23 * megabyte, most: 1000 * megabyte };

/** The more of the pod's images is there, the better; one that few nodes have counts less, so that not all pods go there. */
export const imageLocality: Score = {
  name: 'ImageLocality',
  weight: 1,
  begin({ pod }, cluster) {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const images = [...initContainers, ...containers].map(({ image = '' }) => normalImage(image));
    const spread = images.map((image) => cluster.countImage(image) / cluster.nodes.length);
    if (spread.every((share) => share === 0)) return undefined;
    const most = imageBytes.most * images.length;
    return {
      of({ facts }) {
        const bytes = images.reduce(
          (sum, image, index) => sum + Math.floor((facts.images.get(image) ?? 0) * (spread[index] ?? 0)),
          0,
        );
        const within = Math.min(Math.max(bytes, imageBytes.least), most);
        return Math.floor((maxScore * (within - imageBytes.least)) / (most - imageBytes.least));
      },
    };
  },
};

/** As nodes report them: with a tag. */
function normalImage(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
