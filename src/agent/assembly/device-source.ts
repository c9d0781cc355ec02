import type { Pod } from '../../api/index.ts';
import type { ContainerDevices } from '../containers/index.ts';
import { findContainer } from '../downward/index.ts';
import type { DeviceAllocator } from '../plugins/allocation/index.ts';
import type { PodClaims } from '../plugins/claims/index.ts';
import type { DeviceInventory } from '../plugins/devices/index.ts';
import type { AllocatedResourcesStatus } from '../pods/status/index.ts';
import type { ExecutorOptions } from '../pods/worker/index.ts';

type DevicesOf = ExecutorOptions['devicesOf'];

/** The devices of plugins and of resource claims that a container asks for, in the form in which containers are made. */
export function createDeviceSource(
  allocator: DeviceAllocator,
  inventory: DeviceInventory,
  claims: Pick<PodClaims, 'devicesOf'>,
): DevicesOf {
  const ofPlugins = pluginDevices(allocator, inventory);
  return async (pod, container, signal) => {
    const devices = await ofPlugins(pod, container);
    const ofClaims = await claims.devicesOf(pod, container, signal);
    return { ...devices, cdiDevices: [...devices.cdiDevices, ...ofClaims] };
  };
}

function pluginDevices(
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

/** The health of the devices that a container holds, as its status says it: of one that no plugin lists it is unknown. */
export function createDeviceHealth(
  allocator: Pick<DeviceAllocator, 'held'>,
  inventory: Pick<DeviceInventory, 'resources'>,
): (podUid: string, container: string) => AllocatedResourcesStatus {
  return (podUid, container) =>
    allocator.held(podUid, container).holdings.map(({ resourceName, devices }) => {
      const known = inventory.resources().get(resourceName)?.devices;
      const healthOf = (id: string) => {
        const device = known?.get(id);
        return device === undefined ? 'Unknown' : device.healthy ? 'Healthy' : 'Unhealthy';
      };
      return {
        name: resourceName,
        resources: devices.map(({ id }) => ({ resourceID: id, health: healthOf(id) })),
      };
    });
}

const none: ContainerDevices = { devices: [], mounts: [], environment: [], annotations: {}, cdiDevices: [] };
