import type { Device } from '../devices/index.ts';

/*
 * The NUMA nodes from which the devices of a request could come, computed as in the reference's topology manager. A set of
 * nodes is a bit mask: bit 2 stands for node 2. Every set of nodes with enough devices is a hint. A hint is preferred when no
 * smaller set would have enough if all devices were free.
 */

/** A set of NUMA nodes that could serve a request. */
export interface Hint {
  /** Bit n stands for NUMA node n. */
  readonly numaNodes: number;
  /** No smaller set could serve it even if all devices were free. */
  readonly preferred: boolean;
}

/** As in the reference: with more nodes there are too many sets to examine. */
export const numaNodesLimit = 8;
const maxNode = 30;

export interface HintRequest {
  /** All devices of the resource. */
  devices: Iterable<Device>;
  free: ReadonlySet<string>;
  /** The devices to take first. */
  mustInclude: ReadonlySet<string>;
  size: number;
  /** The NUMA nodes of this machine, as far as devices state them. */
  nodes: readonly number[];
}

/**
 * Returns undefined when the resource states no nodes or the machine has too many: any node will do. Empty: there are too
 * few devices.
 */
export function computeHints({ devices, free, mustInclude, size, nodes }: HintRequest): Hint[] | undefined {
  const masks = [...devices].map(({ id, numaNodes }) => ({ id, mask: toMask(numaNodes) }));
  const tooMany = nodes.length > numaNodesLimit || nodes.some((node) => node > maxNode);
  if (tooMany || masks.every(({ mask }) => mask === 0)) return undefined;
  const must = masks.filter(({ id }) => mustInclude.has(id));
  const [all, forced] = [countByMask(masks), countByMask(must)];
  const possible = countByMask(masks.filter(({ id }) => free.has(id) || mustInclude.has(id)));
  const sets = listSubsets(nodes);
  const smallest = Math.min(nodes.length, ...sets.filter((set) => countIn(set, all) >= size).map(countBits));
  const leavesOut = (set: number) => [...forced.keys()].some((mask) => mask !== 0 && (mask & set) === 0);
  const mustAllFit = must.length <= size;
  return sets
    .filter((set) => countIn(set, possible) >= size && !(mustAllFit && leavesOut(set)))
    .map((set) => ({ numaNodes: set, preferred: countBits(set) === smallest }));
}

/** Thousands of devices have only a small number of different masks. */
function countByMask(masks: readonly { mask: number }[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { mask } of masks) counts.set(mask, (counts.get(mask) ?? 0) + 1);
  return counts;
}

function countIn(set: number, counts: ReadonlyMap<number, number>): number {
  let count = 0;
  for (const [mask, number] of counts) if ((mask & set) !== 0) count += number;
  return count;
}

/**
 * Returns the best set for several resources together, under the policy `best-effort`: preferred by all if possible, then
 * with the fewest nodes, then with the lowest. Undefined when no resource has hints, or the sets have no node in common.
 */
export function mergeHints(all: Iterable<readonly Hint[] | undefined>): Hint | undefined {
  let merged: readonly Hint[] | undefined;
  for (const hints of all) {
    if (hints === undefined || hints.length === 0) continue;
    merged = merged === undefined ? hints : intersect(merged, hints);
  }
  return merged?.toSorted(
    (a, b) =>
      Number(b.preferred) - Number(a.preferred) ||
      countBits(a.numaNodes) - countBits(b.numaNodes) ||
      a.numaNodes - b.numaNodes,
  )[0];
}

/** Returns distinct hints only: at most 2 × 255, however many resources are merged. */
function intersect(some: readonly Hint[], others: readonly Hint[]): Hint[] {
  const found = new Map<string, Hint>();
  for (const one of some) {
    for (const other of others) {
      const numaNodes = one.numaNodes & other.numaNodes;
      const preferred = one.preferred && other.preferred;
      if (numaNodes !== 0) found.set(`${numaNodes} ${preferred}`, { numaNodes, preferred });
    }
  }
  return [...found.values()];
}

export function toMask(nodes: readonly number[]): number {
  return nodes.reduce((mask, node) => (node <= maxNode ? mask | (1 << node) : mask), 0);
}

function listSubsets(nodes: readonly number[]): number[] {
  const sets = [0];
  for (const node of nodes) sets.push(...sets.map((set) => set | (1 << node)));
  return sets.slice(1);
}

function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
