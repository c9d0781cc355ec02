import type { Implementation } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, implement } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { createTokenBuckets } from '../../../base/index.ts';
import { PodResourcesLister } from './gen/pod-resources-v1_pb.js';
import { PodResourcesLister as PodResourcesListerV1alpha1 } from './gen/pod-resources-v1alpha1_pb.js';
import type { Lister, PodResources } from './lister.ts';
import type { CountCall, Outcome } from './metrics.ts';

/** The reference's limit: a burst of 10 calls, and 100 calls a second. */
const callRate = { burst: 10, refillMs: 10, maxKeys: 1 };

/** Creates both versions of the interface; they share one rate limit, as in the reference. */
export function podResourcesServices(lister: Lister, count: CountCall, clock: Clock): Implementation[] {
  const calls = createTokenBuckets(callRate);

  /** Every call counts towards the limit and the metrics. */
  async function runCall<T>(version: 'v1' | 'v1alpha1', method: string, make: () => T): Promise<T> {
    try {
      if (!calls.take('', clock.monotonicMs()))
        throw new GrpcError(grpcCodes.RESOURCE_EXHAUSTED, 'rejected by rate limit');
      const made = make();
      count(version, method, 'answered');
      return made;
    } catch (error) {
      count(version, method, toOutcome(error));
      throw error;
    }
  }

  return [
    implement(PodResourcesLister, {
      list: () => runCall('v1', 'List', () => ({ podResources: lister.all() })),
      get: ({ podName, podNamespace }) =>
        runCall('v1', 'Get', () => ({ podResources: requirePod(lister, podNamespace, podName) })),
      getAllocatableResources: () => runCall('v1', 'GetAllocatableResources', () => lister.allocatable()),
    }),
    implement(PodResourcesListerV1alpha1, {
      list: () => runCall('v1alpha1', 'List', () => ({ podResources: lister.all().map(toV1alpha1) })),
    }),
  ];
}

function requirePod(lister: Lister, namespace: string, name: string): PodResources {
  const pod = lister.one(namespace, name);
  if (pod !== undefined) return pod;
  const message = `pod ${name.slice(0, 253)} in namespace ${namespace.slice(0, 253)} not found`;
  if (lister.isComplete()) throw new GrpcError(grpcCodes.NOT_FOUND, message);
  throw new GrpcError(grpcCodes.UNAVAILABLE, `${message}; not all pods of this node are known yet`);
}

function toOutcome(error: unknown): Outcome {
  if (!(error instanceof GrpcError)) return 'failed';
  return error.code === grpcCodes.RESOURCE_EXHAUSTED ? 'limited' : 'not-found';
}

function toV1alpha1({ name = '', namespace = '', containers = [] }: PodResources) {
  return {
    name,
    namespace,
    containers: containers.map((container) => ({
      name: container.name ?? '',
      devices: (container.devices ?? []).map(({ resourceName = '', deviceIds = [] }) => ({
        resourceName,
        deviceIds: [...deviceIds],
      })),
    })),
  };
}
