import type { Pod } from '../../api/index.ts';
import type { ContainerDevices } from '../containers/index.ts';
import { findContainer } from '../containers/index.ts';
import type { DeviceAllocator } from '../plugins/allocation/index.ts';
import type { DeviceInventory } from '../plugins/devices/index.ts';

/** The devices of plugins that a container asks for, in the form in which containers are made. */
export function createDeviceSource(
  allocator: DeviceAllocator,
  inventory: DeviceInventory,
): (pod: Pod, container: string) => Promise<ContainerDevices> {
  return async (pod, container) => {
    const limits = findContainer(pod, container).resources?.limits ?? {};
    const known = inventory.resources();
    const counts = Object.fromEntries(
      Object.entries(limits).flatMap(([name, amount]) => (known.has(name) ? [[name, Number(amount)]] : [])),
    );
    if (Object.keys(counts).length === 0) return none;
    const { options } = await allocator.allocate(pod, container, counts);
    return {
      devices: options.devices,
      mounts: options.mounts.map(({ containerPath, hostPath, readOnly }) => ({
        ...{ containerPath, hostPath },
        isReadOnly: readOnly,
      })),
      environment: Object.entries(options.envs).map(([name, value]) => ({ name, value })),
      annotations: options.annotations,
      cdiDevices: options.cdiDevices,
    };
  };
}

const none: ContainerDevices = { devices: [], mounts: [], environment: [], annotations: {}, cdiDevices: [] };
