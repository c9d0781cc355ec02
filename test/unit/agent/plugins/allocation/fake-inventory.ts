import type {
  ContainerAllocation,
  Device,
  DeviceInventory,
  DeviceOptions,
  DevicePluginCalls,
  DeviceResource,
  PreferenceRequest,
} from '../../../../../src/agent/plugins/devices/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';

/** Plugins whose answers the test decides. */
export interface FakeInventory extends DeviceInventory {
  /** Offers devices: ids, or ids with their NUMA nodes. */
  offer(name: string, devices: readonly (string | [string, ...number[]])[], fake?: FakePlugin): void;
  health(name: string, id: string, healthy: boolean): void;
  leave(name: string): void;
  /** Every call of Allocate, as `resource: id,id`. */
  readonly allocated: string[];
  readonly prepared: string[];
}

export interface FakePlugin {
  options?: Partial<DeviceOptions>;
  allocate?(ids: readonly string[], cancel: AbortSignal): Promise<ContainerAllocation>;
  preferred?(request: PreferenceRequest, cancel: AbortSignal): Promise<readonly string[]>;
  preStart?(ids: readonly string[]): Promise<void>;
}

export const nothing: ContainerAllocation = {
  envs: {},
  mounts: [],
  devices: [],
  annotations: {},
  cdiDevices: [],
};

export function createFakeInventory(): FakeInventory {
  const resources = new Map<string, DeviceResource>();
  const listeners = new Set<() => void>();
  const allocated: string[] = [];
  const prepared: string[] = [];

  function change(resource: DeviceResource): void {
    resources.set(resource.name, resource);
    for (const listener of listeners) listener();
  }

  function known(name: string): DeviceResource {
    const found = resources.get(name);
    if (found === undefined) throw new Error(`${name} was never offered`);
    return found;
  }

  function callsOf(name: string, fake: FakePlugin): DevicePluginCalls {
    return {
      async allocate(ids, cancel) {
        allocated.push(`${name}: ${ids.join(',')}`);
        return (await fake.allocate?.(ids, cancel)) ?? { ...nothing, envs: { [name]: ids.join(',') } };
      },
      async preferred(request, cancel) {
        return (await fake.preferred?.(request, cancel)) ?? [];
      },
      async preStart(ids) {
        prepared.push(`${name}: ${ids.join(',')}`);
        await fake.preStart?.(ids);
      },
    };
  }

  return {
    allocated,
    prepared,
    resources: () => resources,
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    offer(name, devices, fake = {}) {
      const list = devices.map((each): Device => {
        const [id, ...numaNodes] = typeof each === 'string' ? [each] : each;
        return { id, healthy: true, numaNodes };
      });
      change({
        name,
        devices: new Map(list.map((device) => [device.id, device])),
        options: { preStartRequired: false, preferredAllocation: false, ...fake.options },
        plugin: callsOf(name, fake),
      });
    },
    health(name, id, healthy) {
      const resource = known(name);
      const device = resource.devices.get(id);
      if (device === undefined) throw new Error(`${name} has no ${id}`);
      change({ ...resource, devices: new Map([...resource.devices, [id, { ...device, healthy }]]) });
    },
    leave(name) {
      const resource = known(name);
      const devices = [...resource.devices.values()].map((device) => ({ ...device, healthy: false }));
      change({
        ...resource,
        devices: new Map(devices.map((device) => [device.id, device])),
        plugin: undefined,
      });
    },
  };
}

/** A pod with containers `app` and `second`, an init container `init` and a sidecar `sidecar`. */
export function podWithUid(uid: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid, name: uid, namespace: 'default' },
    spec: {
      initContainers: [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always' }],
      containers: [{ name: 'app' }, { name: 'second' }],
    },
  };
}
