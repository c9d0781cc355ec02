import type { Device } from '../devices/index.ts';
import { maskOf } from './hints.ts';
import { shown } from './response.ts';

export interface Choice {
  /** Healthy, and nobody else's. */
  available: readonly Device[];
  /** Healthy devices that the pod has already and this container takes first. */
  reusable: readonly Device[];
  size: number;
  /** NUMA nodes to stay within where that is possible; 0: anywhere. */
  numaNodes: number;
}

/** What a choice is made from: as near to the wanted nodes as can be. Undefined when there are too few devices. */
export function narrow({
  available,
  reusable,
  size,
  numaNodes,
}: Choice): { mustInclude: readonly Device[]; candidates: readonly Device[] } | undefined {
  const isNear = (device: Device) => numaNodes === 0 || (maskOf(device.numaNodes) & numaNodes) !== 0;
  const mustInclude = nearFirst(reusable, isNear).slice(0, size);
  const rest = size - mustInclude.length;
  if (available.length < rest) return undefined;
  const near = available.filter(isNear);
  return { mustInclude, candidates: near.length >= rest ? near : nearFirst(available, isNear) };
}

/** Our own choice: what must be, then the devices of as few nodes as can be, in the order of their ids. */
export function pick(mustInclude: readonly Device[], candidates: readonly Device[], size: number): Device[] {
  const rest = size - mustInclude.length;
  const byNode = Map.groupBy(candidates, ({ numaNodes }) => maskOf(numaNodes));
  const groups = [...byNode.values()];
  const fitting = groups.filter((group) => group.length >= rest).toSorted((a, b) => a.length - b.length);
  const source = fitting[0] ?? groups.toSorted((a, b) => b.length - a.length).flat();
  return [...mustInclude, ...inOrder(source, fitting.length > 0).slice(0, rest)];
}

/** What is wrong with a plugin's preference; undefined where it can be followed. */
export function preferenceFault(
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
  if (stranger !== undefined) return `it names ${shown(stranger)}, which was not offered`;
  const missing = mustInclude.find(({ id }) => !chosen.has(id));
  return missing === undefined ? undefined : `it leaves out ${shown(missing.id)}, which must be there`;
}

function nearFirst(devices: readonly Device[], isNear: (device: Device) => boolean): Device[] {
  return devices.toSorted((a, b) => Number(isNear(b)) - Number(isNear(a)) || byId(a, b));
}

function inOrder(devices: readonly Device[], sort: boolean): readonly Device[] {
  return sort ? devices.toSorted(byId) : devices;
}

/** The order of devices wherever they are listed: `gpu2` comes before `gpu10`. */
export const byId = (a: { id: string }, b: { id: string }): number =>
  a.id.localeCompare(b.id, 'en', { numeric: true }) || (a.id < b.id ? -1 : 1);
