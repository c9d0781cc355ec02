import type { Device } from '../devices/index.ts';
import { toMask } from './hints.ts';
import { quote } from './response.ts';

export interface Choice {
  /** Healthy, and held by no other container. */
  available: readonly Device[];
  /** Healthy devices that an init container of the pod held; this container takes them first. */
  reusable: readonly Device[];
  size: number;
  /** Mask of NUMA nodes to stay within if possible; 0: anywhere. */
  numaNodes: number;
}

/**
 * Narrows the devices to choose from to the wanted NUMA nodes if they have enough. Undefined when there are too few
 * devices.
 */
export function narrowDevices({
  available,
  reusable,
  size,
  numaNodes,
}: Choice): { mustInclude: readonly Device[]; candidates: readonly Device[] } | undefined {
  const isNear = (device: Device) => numaNodes === 0 || (toMask(device.numaNodes) & numaNodes) !== 0;
  const mustInclude = sortNearFirst(reusable, isNear).slice(0, size);
  const rest = size - mustInclude.length;
  if (available.length < rest) return undefined;
  const near = available.filter(isNear);
  return { mustInclude, candidates: near.length >= rest ? near : sortNearFirst(available, isNear) };
}

/** The agent's own choice: the required devices, then devices from as few NUMA nodes as possible, sorted by id. */
export function pickDevices(
  mustInclude: readonly Device[],
  candidates: readonly Device[],
  size: number,
): Device[] {
  const rest = size - mustInclude.length;
  const byNode = Map.groupBy(candidates, ({ numaNodes }) => toMask(numaNodes));
  const groups = [...byNode.values()];
  const fitting = groups.filter((group) => group.length >= rest).toSorted((a, b) => a.length - b.length);
  const source = fitting[0] ?? groups.toSorted((a, b) => b.length - a.length).flat();
  return [...mustInclude, ...sortById(source, fitting.length > 0).slice(0, rest)];
}

/** Returns the fault of a plugin's preference; undefined when it can be followed. */
export function findPreferenceFault(
  ids: readonly string[],
  {
    mustInclude,
    candidates,
    size,
  }: { mustInclude: readonly Device[]; candidates: readonly Device[]; size: number },
): string | undefined {
  const known = new Set([...mustInclude, ...candidates].map(({ id }) => id));
  const chosen = new Set(ids);
  if (chosen.size !== ids.length) return 'it names a device twice';
  if (chosen.size !== size) return `it names ${chosen.size} devices, and ${size} were asked for`;
  const stranger = ids.find((id) => !known.has(id));
  if (stranger !== undefined) return `it names ${quote(stranger)}, which was not offered`;
  const missing = mustInclude.find(({ id }) => !chosen.has(id));
  return missing === undefined ? undefined : `it leaves out ${quote(missing.id)}, which must be there`;
}

function sortNearFirst(devices: readonly Device[], isNear: (device: Device) => boolean): Device[] {
  return devices.toSorted((a, b) => Number(isNear(b)) - Number(isNear(a)) || byId(a, b));
}

function sortById(devices: readonly Device[], sort: boolean): readonly Device[] {
  return sort ? devices.toSorted(byId) : devices;
}

/** The order of all lists of devices: `gpu2` comes before `gpu10`. */
export const byId = (a: { id: string }, b: { id: string }): number =>
  a.id.localeCompare(b.id, 'en', { numeric: true }) || (a.id < b.id ? -1 : 1);
