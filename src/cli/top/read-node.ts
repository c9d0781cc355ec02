import { isDeepStrictEqual } from 'node:util';
import { billionths } from '../../api/index.ts';
import { textCell, toRecords } from '../agent-client/response.ts';
import type { Item } from './answers.ts';
import { numberOf, recordOf, textOf } from './answers.ts';
import type { DiskFigures, NodeFigures } from './figures.ts';

/** The node by `/stats/summary` and `/stats/limits`. `podCount`: of the pods that hold something of it. */
export function readNode(summary: Item, limits: Item | undefined, podCount: number): NodeFigures {
  const node = recordOf(summary['node']);
  const allocatable = recordOf(limits?.['allocatable']);
  const keep = thresholdsOf(limits);
  const [cpu, memory, io] = ['cpu', 'memory', 'io'].map((name) => recordOf(node[name]));
  const { maxpid, curproc } = recordOf(node['rlimit']);
  const [max, used] = [numberOf(maxpid), numberOf(curproc)];
  return {
    name: textCell(node['nodeName']),
    cpu: {
      usedNanoCores: numberOf(cpu?.['usageNanoCores']),
      allocatableNanoCores: quantityOf(allocatable['cpu'], 1),
      psi: psiOf(cpu),
    },
    memory: {
      workingSetBytes: numberOf(memory?.['workingSetBytes']),
      allocatableBytes: quantityOf(allocatable['memory'], 1e9),
      untilEvictionBytes: memoryUntilEviction(node, keep),
      psi: psiOf(memory),
    },
    io: { psi: psiOf(io) },
    disks: readDisks(node, keep),
    processes: {
      ...{ used, max },
      untilEviction: left(
        max === undefined || used === undefined ? undefined : max - used,
        max,
        keep['pid.available'],
      ),
    },
    podSlots: { used: podCount, allocatable: quantityOf(allocatable['pods'], 1e9) },
    pressures: toRecords(limits?.['pressures']).map(({ condition, since, found }) => ({
      ...{ condition: textCell(condition), since: textCell(since), found: textCell(found) },
    })),
  };
}

type Threshold = (capacity: number) => number;

/** The hard ones by their signals: how much of a capacity they keep free. */
function thresholdsOf(limits: Item | undefined): Readonly<Record<string, Threshold>> {
  const hard = toRecords(limits?.['thresholds']).filter((each) => each['hard'] === true);
  return Object.fromEntries(
    hard.flatMap(({ signal, amount, share }) => {
      const [fixed, part] = [numberOf(amount), numberOf(share)];
      if (fixed === undefined && part === undefined) return [];
      return [[textCell(signal), (capacity: number) => fixed ?? capacity * (part ?? 0)]];
    }),
  );
}

/** What is available beyond the threshold; undefined where either is not known. */
function left(
  available: number | undefined,
  capacity: number | undefined,
  threshold: Threshold | undefined,
): number | undefined {
  if (available === undefined || capacity === undefined || threshold === undefined) return undefined;
  return Math.floor(available - threshold(capacity));
}

/** The pods together may have less left than the node. */
function memoryUntilEviction(node: Item, keep: Readonly<Record<string, Threshold>>): number | undefined {
  const groups = toRecords(node['systemContainers']);
  const allPods = groups.find(({ name }) => name === 'pods') ?? {};
  const rooms = [
    memoryLeft(recordOf(node['memory']), keep['memory.available']),
    memoryLeft(recordOf(allPods['memory']), keep['allocatableMemory.available']),
  ].filter((each) => each !== undefined);
  return rooms.length === 0 ? undefined : Math.min(...rooms);
}

function memoryLeft(memory: Item, threshold: Threshold | undefined): number | undefined {
  const [available, used] = [numberOf(memory['availableBytes']), numberOf(memory['workingSetBytes'])];
  return left(
    available,
    available === undefined || used === undefined ? undefined : available + used,
    threshold,
  );
}

function readDisks(node: Item, keep: Readonly<Record<string, Threshold>>): DiskFigures[] {
  const { imageFs, containerFs } = recordOf(node['runtime']);
  const read = (of: DiskFigures['of'], fs: unknown, signal: string) =>
    readDisk(of, recordOf(fs), keep[`${signal}.available`]);
  const [own, images] = [read('node', node['fs'], 'nodefs'), read('images', imageFs, 'imagefs')];
  const containers = read('containers', containerFs, 'containerfs');
  const isOther = !isDeepStrictEqual(recordOf(imageFs), recordOf(containerFs));
  return [own, images, ...(isOther ? [containers] : [])].filter(
    ({ capacityBytes }) => capacityBytes !== undefined,
  );
}

function readDisk(of: DiskFigures['of'], fs: Item, threshold: Threshold | undefined): DiskFigures {
  const [availableBytes, capacityBytes] = [numberOf(fs['availableBytes']), numberOf(fs['capacityBytes'])];
  const [inodes, inodesFree] = [numberOf(fs['inodes']), numberOf(fs['inodesFree'])];
  const hasInodes = inodes !== undefined && inodesFree !== undefined && inodes > 0;
  return {
    ...{ of, usedBytes: numberOf(fs['usedBytes']), capacityBytes, availableBytes },
    untilEvictionBytes: left(availableBytes, capacityBytes, threshold),
    inodesShare: hasInodes ? 1 - inodesFree / inodes : undefined,
  };
}

function psiOf(resource: Item | undefined): number | undefined {
  return numberOf(recordOf(recordOf(resource?.['psi'])['some'])['avg10']);
}

/** A quantity in units of so many billionths. */
function quantityOf(value: unknown, unit: number): number | undefined {
  const text = textOf(value);
  return text === undefined || !/^\d[\w.]{0,40}$/.test(text) ? undefined : Number(billionths(text)) / unit;
}
