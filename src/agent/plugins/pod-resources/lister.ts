import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import type { PodSource } from '../../pods/index.ts';
import type { DeviceAllocator, HeldDevice } from '../allocation/index.ts';
import type { DeviceInventory } from '../devices/index.ts';
import type {
  AllocatableResourcesResponseSchema,
  ContainerDevicesSchema,
  DynamicResourceSchema,
  PodResourcesSchema,
} from './gen/pod-resources-v1_pb.js';

export type PodResources = MessageInitShape<typeof PodResourcesSchema>;
export type DynamicResource = MessageInitShape<typeof DynamicResourceSchema>;
export type AllocatableResources = MessageInitShape<typeof AllocatableResourcesResponseSchema>;
type ContainerDevices = MessageInitShape<typeof ContainerDevicesSchema>;

export interface ListerOptions {
  pods: Pick<PodSource, 'pods'>;
  /** Whether all pods are known; before, one that is not there may only not have been heard of. */
  isComplete(): boolean;
  allocations: Pick<DeviceAllocator, 'held'>;
  inventory: Pick<DeviceInventory, 'resources'>;
  /** What drivers have prepared for a container; default nothing. */
  dynamicResources?: ((podUid: string, containerName: string) => readonly DynamicResource[]) | undefined;
}

/** What the containers of this node hold, as of now. */
export interface Lister {
  /** Of pods that have not ended. */
  all(): PodResources[];
  one(namespace: string, name: string): PodResources | undefined;
  isComplete(): boolean;
  /** What there is to give: healthy devices, whether or not somebody has them. */
  allocatable(): AllocatableResources;
}

/**
 * As in the reference: init containers count when they go on running, each device stands by itself with its own NUMA
 * nodes. CPUs and memory are empty, as always under the policies `none` and `None`: no container has any for itself.
 */
export function createLister(options: ListerOptions): Lister {
  const { pods, allocations, inventory, dynamicResources = () => [] } = options;

  function resourcesOf({ metadata, spec }: Pod): PodResources {
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    const uid = metadata?.uid ?? '';
    const containers = [...sidecars, ...(spec?.containers ?? [])].map(({ name }) => ({
      name,
      devices: allocations
        .held(uid, name)
        .holdings.flatMap(({ resourceName, devices }) => devices.map((each) => deviceOf(resourceName, each))),
      dynamicResources: [...dynamicResources(uid, name)],
    }));
    return { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '', containers };
  }

  return {
    isComplete: options.isComplete,
    all: () =>
      pods
        .pods()
        .filter((pod) => !podHasEnded(pod))
        .map(resourcesOf),
    one(namespace, name) {
      const found = pods
        .pods()
        .find(({ metadata }) => metadata?.name === name && metadata.namespace === namespace);
      return found === undefined ? undefined : resourcesOf(found);
    },
    allocatable() {
      const resources = [...inventory.resources().values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      const devices = resources.flatMap(({ name, devices: all }) =>
        [...all.values()].filter(({ healthy }) => healthy).map((device) => deviceOf(name, device)),
      );
      return { devices };
    },
  };
}

function deviceOf(resourceName: string, { id, numaNodes }: HeldDevice): ContainerDevices {
  const topology = { nodes: numaNodes.map((node) => ({ ID: BigInt(node) })) };
  return { resourceName, deviceIds: [id], ...(numaNodes.length === 0 ? {} : { topology }) };
}
