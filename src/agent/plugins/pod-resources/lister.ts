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
  /** Whether all pods are known; before that, a pod that is not found may still exist. */
  isComplete(): boolean;
  allocations: Pick<DeviceAllocator, 'held'>;
  inventory: Pick<DeviceInventory, 'resources'>;
  /** Returns the resources that drivers have prepared for a container; default none. */
  dynamicResources?: ((podUid: string, containerName: string) => readonly DynamicResource[]) | undefined;
}

/** Lists the devices that the containers of this node hold now. */
export interface Lister {
  /** All pods that have not ended. */
  all(): PodResources[];
  one(namespace: string, name: string): PodResources | undefined;
  isComplete(): boolean;
  /** The healthy devices of the node, allocated or not. */
  allocatable(): AllocatableResources;
}

/**
 * As in the reference: of init containers only sidecars are listed, and each device is listed separately with its NUMA
 * nodes. CPUs and memory are empty, as always under the policies `none` and `None`: no container has exclusive ones.
 */
export function createLister(options: ListerOptions): Lister {
  const { pods, allocations, inventory, dynamicResources = () => [] } = options;

  function toPodResources({ metadata, spec }: Pod): PodResources {
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    const uid = metadata?.uid ?? '';
    const containers = [...sidecars, ...(spec?.containers ?? [])].map(({ name }) => ({
      name,
      devices: allocations
        .held(uid, name)
        .holdings.flatMap(({ resourceName, devices }) =>
          devices.map((each) => toDevices(resourceName, each)),
        ),
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
        .map(toPodResources),
    one(namespace, name) {
      const found = pods
        .pods()
        .find(({ metadata }) => metadata?.name === name && metadata.namespace === namespace);
      return found === undefined ? undefined : toPodResources(found);
    },
    allocatable() {
      const resources = [...inventory.resources().values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      const devices = resources.flatMap(({ name, devices: all }) =>
        [...all.values()].filter(({ healthy }) => healthy).map((device) => toDevices(name, device)),
      );
      return { devices };
    },
  };
}

function toDevices(resourceName: string, { id, numaNodes }: HeldDevice): ContainerDevices {
  const topology = { nodes: numaNodes.map((node) => ({ ID: BigInt(node) })) };
  return { resourceName, deviceIds: [id], ...(numaNodes.length === 0 ? {} : { topology }) };
}
