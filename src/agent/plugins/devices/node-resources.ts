import type { Inventory } from './inventory.ts';

/** As the node's status has them, by resource. */
export interface DeviceAmounts {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/**
 * What the node has of each resource, and how much of it is healthy. A resource whose plugin has left for good is told as
 * 0, as the reference has it: so it can be told from one that others have put on the node, which nobody here touches.
 */
export function deviceAmounts({ resources, gone }: Pick<Inventory, 'resources' | 'gone'>): DeviceAmounts {
  const capacity: Record<string, string> = {};
  const allocatable: Record<string, string> = {};
  for (const name of gone()) {
    capacity[name] = '0';
    allocatable[name] = '0';
  }
  for (const { name, devices, plugin } of resources().values()) {
    const healthy = [...devices.values()].filter((device) => device.healthy).length;
    capacity[name] = String(devices.size);
    allocatable[name] = String(plugin === undefined ? 0 : healthy);
  }
  return { capacity, allocatable };
}
