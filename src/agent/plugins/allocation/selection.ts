import type { Pod } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Device, DeviceInventory, DeviceResource } from '../devices/index.ts';
import { findPreferenceFault, narrowDevices, pickDevices } from './device-choice.ts';
import { AllocationError } from './errors.ts';
import type { Hint } from './hints.ts';
import { computeHints } from './hints.ts';
import type { Ledger } from './ledger.ts';
import { listIds } from './ledger.ts';

/** The devices that a container could get, by the inventory and the ledger at this moment. */
export interface Selection {
  readonly resource: DeviceResource;
  readonly available: readonly Device[];
  readonly reusable: readonly Device[];
  /** The hints for a number of devices. */
  hints(size: number): readonly Hint[] | undefined;
}

export function createSelection(
  inventory: DeviceInventory,
  ledger: Ledger,
  { pod, containerName, resource }: { pod: Pod; containerName: string; resource: DeviceResource },
): Selection {
  const reusableIds = findReusable(pod, containerName, ledger, resource.name);
  const healthy = [...resource.devices.values()].filter((device) => device.healthy);
  const reusable = healthy.filter(({ id }) => reusableIds.has(id));
  const available = healthy.filter(({ id }) => !ledger.isUsed(resource.name, id));
  return {
    resource,
    available,
    reusable,
    hints: (size) =>
      computeHints({
        devices: resource.devices.values(),
        free: new Set(available.map(({ id }) => id)),
        mustInclude: new Set(reusable.map(({ id }) => id)),
        size,
        nodes: listNumaNodes(inventory),
      }),
  };
}

/**
 * Finds the devices of init containers that end before the next container starts, unless a container that keeps running has
 * taken them over.
 */
function findReusable(pod: Pod, containerName: string, ledger: Ledger, resourceName: string): Set<string> {
  const ending = new Set(
    (pod.spec?.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy !== 'Always')
      .map(({ name }) => name),
  );
  const ofPod = ledger
    .ofPod(pod.metadata?.uid ?? '')
    .filter((holding) => holding.resourceName === resourceName && holding.containerName !== containerName);
  const lent = ofPod.filter((holding) => ending.has(holding.containerName)).flatMap(listIds);
  const taken = new Set(ofPod.filter((holding) => !ending.has(holding.containerName)).flatMap(listIds));
  return new Set(lent.filter((id) => !taken.has(id)));
}

function listNumaNodes(inventory: DeviceInventory): number[] {
  const nodes = new Set<number>();
  for (const { devices } of inventory.resources().values()) {
    for (const { numaNodes } of devices.values()) for (const node of numaNodes) nodes.add(node);
  }
  return [...nodes].sort((a, b) => a - b);
}

export interface ChoiceOptions {
  size: number;
  /** Mask of NUMA nodes; 0: anywhere. */
  numaNodes: number;
  /** Called when the plugin's preference cannot be obtained or followed. */
  onRemark(remark: string): void;
}

/**
 * Chooses devices: the plugin's preference if it has one that can be followed, else the agent's own choice. The selection is
 * computed again after the call to the plugin: meanwhile a device may have become unhealthy or been allocated.
 */
export async function chooseDevices(
  select: () => Selection,
  { size, numaNodes, onRemark }: ChoiceOptions,
  cancel: AbortSignal,
): Promise<Device[]> {
  const offered = createOffer(select(), size, numaNodes);
  const preferred = await fetchPreference(select().resource, { ...offered, size }, onRemark, cancel);
  const offer = createOffer(select(), size, numaNodes);
  if (preferred === undefined) return pickDevices(offer.mustInclude, offer.candidates, size);
  const fault = findPreferenceFault(preferred, { ...offer, size });
  if (fault !== undefined) {
    onRemark(`its preference cannot be followed: ${fault}`);
    return pickDevices(offer.mustInclude, offer.candidates, size);
  }
  const byId = new Map([...offer.mustInclude, ...offer.candidates].map((device) => [device.id, device]));
  return preferred.flatMap((id) => byId.get(id) ?? []);
}

interface Offer {
  mustInclude: readonly Device[];
  candidates: readonly Device[];
}

function createOffer({ resource, available, reusable }: Selection, size: number, numaNodes: number): Offer {
  const offer = narrowDevices({ available, reusable, size, numaNodes });
  if (offer !== undefined) return offer;
  const have = available.length + reusable.length;
  throw new AllocationError(
    'unavailable',
    `requested number of devices unavailable for ${resource.name}. Requested: ${size}, Available: ${have}`,
  );
}

async function fetchPreference(
  { options, plugin }: DeviceResource,
  { mustInclude, candidates, size }: Offer & { size: number },
  onRemark: (remark: string) => void,
  cancel: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (!options.preferredAllocation || plugin === undefined) return undefined;
  if (mustInclude.length >= size) return undefined; // nothing is left to choose
  const available = [...mustInclude, ...candidates].map(({ id }) => id);
  try {
    const ids = await plugin.preferred(
      { available, mustInclude: mustInclude.map(({ id }) => id), size },
      cancel,
    );
    return ids.length === 0 ? undefined : ids;
  } catch (error) {
    if (cancel.aborted) throw new AllocationError('released', 'the pod has gone meanwhile', { cause: error });
    onRemark(`it does not tell its preference: ${describeError(error)}`);
    return undefined;
  }
}
