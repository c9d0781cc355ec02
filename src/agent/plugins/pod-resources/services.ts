import type { Implementation } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, implement } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { PodResourcesLister } from './gen/pod-resources-v1_pb.js';
import { PodResourcesLister as PodResourcesListerV1alpha1 } from './gen/pod-resources-v1alpha1_pb.js';
import type { Lister, PodResources } from './lister.ts';
import type { CountCall, Outcome } from './metrics.ts';
import { createRateLimit } from './rate-limit.ts';

/** The reference's: nobody needs to ask more often. */
const limits = { perSecond: 100, burst: 10 };

/** Both versions of the interface; they share one limit, as in the reference. */
export function podResourcesServices(lister: Lister, count: CountCall, clock: Clock): Implementation[] {
  const allow = createRateLimit({ ...limits, clock });

  /** Every call counts for the limit, and for the metrics. */
  async function answer<T>(version: 'v1' | 'v1alpha1', method: string, make: () => T): Promise<T> {
    try {
      if (!allow()) throw new GrpcError(grpcCodes.RESOURCE_EXHAUSTED, 'rejected by rate limit');
      const made = make();
      count(version, method, 'answered');
      return made;
    } catch (error) {
      count(version, method, outcomeOf(error));
      throw error;
    }
  }

  return [
    implement(PodResourcesLister, {
      list: () => answer('v1', 'List', () => ({ podResources: lister.all() })),
      get: ({ podName, podNamespace }) =>
        answer('v1', 'Get', () => ({ podResources: found(lister, podNamespace, podName) })),
      getAllocatableResources: () => answer('v1', 'GetAllocatableResources', () => lister.allocatable()),
    }),
    implement(PodResourcesListerV1alpha1, {
      list: () => answer('v1alpha1', 'List', () => ({ podResources: lister.all().map(toV1alpha1) })),
    }),
  ];
}

function found(lister: Lister, namespace: string, name: string): PodResources {
  const pod = lister.one(namespace, name);
  if (pod !== undefined) return pod;
  const [shownName, shownNamespace] = [name.slice(0, 253), namespace.slice(0, 253)];
  const message = `pod ${shownName} in namespace ${shownNamespace} not found`;
  if (lister.isComplete()) throw new GrpcError(grpcCodes.NOT_FOUND, message);
  throw new GrpcError(grpcCodes.UNAVAILABLE, `${message}; not all pods of this node are known yet`);
}

function outcomeOf(error: unknown): Outcome {
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
