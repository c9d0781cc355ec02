import type { ContainerSpec, Pod } from '../../api/index.ts';
import { billionths, isSidecar, qosClassOf } from '../../api/index.ts';

const guaranteedScore = -997;
const bestEffortScore = 1000;
const minBurstable = 1000 + guaranteedScore;
const maxBurstable = bestEffortScore - 1;

/**
 * The `oom_score_adj` of a container: the less of the node's memory it requests, the earlier it is killed when the node has
 * none left. `capacity` is the memory of the node in billionths of a byte.
 */
export function oomScoreOf(pod: Pod, container: ContainerSpec, capacity: bigint): number {
  if (pod.spec?.priorityClassName === 'system-node-critical') return guaranteedScore;
  const qos = qosClassOf(pod);
  if (qos === 'Guaranteed') return guaranteedScore;
  if (qos === 'BestEffort') return bestEffortScore;
  const asked = memoryOf(container) + shareOfRest(pod);
  const own =
    capacity <= 0n
      ? bestEffortScore
      : 1000 - Number((1000n * countedRequest(pod, container, asked)) / capacity);
  return Math.min(maxBurstable, Math.max(minBurstable, own));
}

/** A sidecar outlives what it serves: it counts as if it requested as much as the smallest of the regular containers. */
function countedRequest(pod: Pod, container: ContainerSpec, asked: bigint): bigint {
  const isInit = pod.spec?.initContainers?.includes(container) === true;
  if (!isInit || !isSidecar(container)) return asked;
  const rest = shareOfRest(pod);
  const regular = (pod.spec?.containers ?? []).map((each) => memoryOf(each) + rest);
  const min = regular.reduce((left, right) => (right < left ? right : left), regular[0] ?? 0n);
  return min > asked ? min : asked;
}

/** What the pod requests as a whole beyond its containers' requests, in equal parts. */
function shareOfRest({ spec }: Pod): bigint {
  const ofPod = spec?.resources?.requests?.['memory'];
  if (ofPod === undefined) return 0n;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
  const rest = containers.reduce((left, each) => left - memoryOf(each), billionths(ofPod));
  return rest <= 0n || containers.length === 0 ? 0n : rest / BigInt(containers.length);
}

function memoryOf({ resources }: ContainerSpec): bigint {
  const request = resources?.requests?.['memory'] ?? resources?.limits?.['memory'];
  return request === undefined ? 0n : billionths(request);
}
