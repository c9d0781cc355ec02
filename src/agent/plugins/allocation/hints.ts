import type { Device } from '../devices/index.ts';

/*
 * Where the devices for a request could come from, as the reference's topology manager reckons it. A set of NUMA nodes
 * is a bit mask: bit 2 stands for node 2. Every set of nodes that holds enough devices is a hint; it is preferred when no
 * smaller set could hold as many, were all devices free.
 */

/** A set of NUMA nodes that could serve a request. */
export interface Hint {
  /** Bit n stands for NUMA node n. */
  readonly numaNodes: number;
  /** No smaller set could serve it, were all devices free. */
  readonly preferred: boolean;
}

/** As in the reference: with more, their sets are too many to look at. */
export const numaNodesLimit = 8;
const maxNode = 30;

export interface HintRequest {
  /** All devices of the resource. */
  devices: Iterable<Device>;
  free: ReadonlySet<string>;
  /** To be taken first. */
  mustInclude: ReadonlySet<string>;
  size: number;
  /** The NUMA nodes of this machine, as far as devices tell them. */
  nodes: readonly number[];
}

/** Undefined: nothing is to be gained, the resource tells no nodes (or the machine has too many). Empty: not to be had. */
export function hintsFor({ devices, free, mustInclude, size, nodes }: HintRequest): Hint[] | undefined {
  const masks = [...devices].map(({ id, numaNodes }) => ({ id, mask: maskOf(numaNodes) }));
  const tooMany = nodes.length > numaNodesLimit || nodes.some((node) => node > maxNode);
  if (tooMany || masks.every(({ mask }) => mask === 0)) return undefined;
  const must = masks.filter(({ id }) => mustInclude.has(id));
  const [all, forced] = [countByMask(masks), countByMask(must)];
  const possible = countByMask(masks.filter(({ id }) => free.has(id) || mustInclude.has(id)));
  const sets = subsets(nodes);
  const smallest = Math.min(nodes.length, ...sets.filter((set) => countIn(set, all) >= size).map(bitCount));
  const leavesOut = (set: number) => [...forced.keys()].some((mask) => mask !== 0 && (mask & set) === 0);
  const mustAllFit = must.length <= size;
  return sets
    .filter((set) => countIn(set, possible) >= size && !(mustAllFit && leavesOut(set)))
    .map((set) => ({ numaNodes: set, preferred: bitCount(set) === smallest }));
}

/** Thousands of devices have few different places. */
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
 * The best set for several resources at once, under a policy of best effort: preferred by all if that can be, then as
 * few nodes as can be, then the lowest. Undefined where no resource cares, or where they have nothing in common.
 */
export function mergeHints(all: Iterable<readonly Hint[] | undefined>): Hint | undefined {
  let merged: readonly Hint[] | undefined;
  for (const hints of all) {
    if (hints === undefined || hints.length === 0) continue;
    merged = merged === undefined ? hints : cross(merged, hints);
  }
  return merged?.toSorted(
    (a, b) =>
      Number(b.preferred) - Number(a.preferred) ||
      bitCount(a.numaNodes) - bitCount(b.numaNodes) ||
      a.numaNodes - b.numaNodes,
  )[0];
}

/** Only what differs: there are at most 2 × 255 hints, however many resources are merged. */
function cross(some: readonly Hint[], others: readonly Hint[]): Hint[] {
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

export function maskOf(nodes: readonly number[]): number {
  return nodes.reduce((mask, node) => (node <= maxNode ? mask | (1 << node) : mask), 0);
}

function subsets(nodes: readonly number[]): number[] {
  const sets = [0];
  for (const node of nodes) sets.push(...sets.map((set) => set | (1 << node)));
  return sets.slice(1);
}

function bitCount(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
