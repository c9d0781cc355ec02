import type { Inventory } from './inventory.ts';
import { limits } from './limits.ts';
import { resourceNameFault } from './resource-name.ts';

/**
 * Puts the devices that an earlier start of the agent has known into the inventory, unhealthy, until their plugin is back
 * or the grace is over. What no plugin could have registered is left out.
 */
export function rememberDevices(
  inventory: Pick<Inventory, 'remembered'>,
  before: Readonly<Record<string, readonly string[]>>,
): void {
  const usable = Object.entries(before).filter(
    ([name, ids]) => resourceNameFault(name) === undefined && ids.length <= limits.devices,
  );
  for (const [name, ids] of usable.slice(0, limits.resources)) inventory.remembered(name, ids);
}
