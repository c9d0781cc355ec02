import type { Inventory } from './inventory.ts';

/** Amounts by resource, in the form of the node's status. */
export interface DeviceAmounts {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/**
 * Computes the node's amount of each resource, and how much of it is healthy. A resource whose plugin has left for good has
 * the amount 0, as in the reference: this distinguishes it from a resource that another client has put on the node, which
 * the agent never changes.
 */
export function computeDeviceAmounts(inventory: Pick<Inventory, 'resources' | 'gone'>): DeviceAmounts {
  const capacity: Record<string, string> = {};
  const allocatable: Record<string, string> = {};
  for (const name of inventory.gone()) {
    capacity[name] = '0';
    allocatable[name] = '0';
  }
  for (const { name, devices, plugin } of inventory.resources().values()) {
    const healthy = [...devices.values()].filter((device) => device.healthy).length;
    capacity[name] = String(devices.size);
    allocatable[name] = String(plugin === undefined ? 0 : healthy);
  }
  return { capacity, allocatable };
}
