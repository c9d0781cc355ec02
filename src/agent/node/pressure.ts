import type { DiskSpace, Measurements } from './measure.ts';
import type { Eviction, EvictionSignal, Thresholds } from './thresholds.ts';
import { amountOf, evictionSignals } from './thresholds.ts';

export type PressureKind = 'memory' | 'disk' | 'pid';

/** Whether the node is short of something; undefined where that cannot be measured. */
export type Pressures = Readonly<Record<PressureKind, boolean | undefined>>;

/** Returns what the node is short of, and remembers it; `nowMs` is of the monotonic clock. */
export type PressureWatch = (measured: Measurements, eviction: Eviction, nowMs: number) => Pressures;

interface Reading {
  readonly capacity: number;
  readonly available: number;
}

/** A resource that is not measured is not short. */
const nothingKnown: Reading = { capacity: 0, available: Number.POSITIVE_INFINITY };

interface Rule {
  /** Distinguishes the hard and the soft threshold of a signal. */
  readonly id: string;
  readonly signal: EvictionSignal;
  readonly thresholds: Thresholds;
  readonly graceMs: number;
}

/**
 * Follows the thresholds over time, so that a node near one does not flap: a soft threshold counts after its grace period,
 * one that counts stays met until the minimum reclaim is free in addition, and a pressure stays for the transition period
 * after the last time that a threshold counted. A restart of the agent resets all of this.
 */
export function createPressureWatch(): PressureWatch {
  const since = new Map<string, number>();
  const counting = new Set<string>();
  const lastSignMs = new Map<PressureKind, number>();

  function checkRule(rule: Rule, reading: Reading | undefined, eviction: Eviction, nowMs: number): void {
    const { id, signal, thresholds, graceMs } = rule;
    const { capacity, available } = reading ?? nothingKnown;
    const more = counting.has(id) ? amountOf(eviction.reclaim[signal], capacity) : 0;
    if (available >= amountOf(thresholds[signal], capacity) + more) {
      since.delete(id);
      counting.delete(id);
      return;
    }
    const firstMs = since.get(id) ?? nowMs;
    since.set(id, firstMs);
    if (nowMs - firstMs >= graceMs) counting.add(id);
  }

  function forgetOthers(rules: readonly Rule[]): void {
    const ids = new Set(rules.map(({ id }) => id));
    for (const id of since.keys()) if (!ids.has(id)) since.delete(id);
    for (const id of counting) if (!ids.has(id)) counting.delete(id);
  }

  return (measured, eviction, nowMs) => {
    const rules = rulesOf(eviction);
    const readings = readingsOf(measured);
    forgetOthers(rules);
    for (const rule of rules) checkRule(rule, readings[rule.signal], eviction, nowMs);
    for (const { id, signal } of rules) if (counting.has(id)) lastSignMs.set(kindOf(signal), nowMs);
    const isUnder = (kind: PressureKind) => {
      const lastMs = lastSignMs.get(kind);
      return lastMs !== undefined && (lastMs === nowMs || nowMs - lastMs < eviction.transitionMs);
    };
    const state = (kind: PressureKind, isMeasured: boolean) =>
      isUnder(kind) ? true : isMeasured ? false : undefined;
    return {
      memory: state('memory', measured.memory !== undefined),
      disk: state('disk', measured.disk !== undefined),
      pid: state('pid', measured.pids !== undefined),
    };
  };
}

function rulesOf({ hard, soft, softGraceMs }: Eviction): Rule[] {
  return evictionSignals.flatMap((signal) => [
    ...(hard[signal] ? [{ id: `hard ${signal}`, signal, thresholds: hard, graceMs: 0 }] : []),
    ...(soft[signal]
      ? [{ id: `soft ${signal}`, signal, thresholds: soft, graceMs: softGraceMs[signal] ?? 0 }]
      : []),
  ]);
}

function kindOf(signal: EvictionSignal): PressureKind {
  if (signal === 'memory.available') return 'memory';
  return signal === 'pid.available' ? 'pid' : 'disk';
}

function readingsOf({ memory, disk, imageDisk, containerDisk, pids }: Measurements) {
  const readings: Record<EvictionSignal, Reading | undefined> = {
    'memory.available': memory && { capacity: memory.capacityBytes, available: memory.availableBytes },
    'nodefs.available': bytesOf(disk),
    'nodefs.inodesFree': inodesOf(disk),
    'imagefs.available': bytesOf(imageDisk),
    'imagefs.inodesFree': inodesOf(imageDisk),
    'containerfs.available': bytesOf(containerDisk),
    'containerfs.inodesFree': inodesOf(containerDisk),
    'pid.available': pids && { capacity: pids.limit, available: pids.limit - pids.used },
  };
  return readings;
}

function bytesOf(disk: DiskSpace | undefined): Reading | undefined {
  return disk && { capacity: disk.capacityBytes, available: disk.availableBytes };
}

/** Some file systems have no fixed number of inodes, and so none to run out of. */
function inodesOf(disk: DiskSpace | undefined): Reading | undefined {
  return disk === undefined || disk.inodes === 0
    ? undefined
    : { capacity: disk.inodes, available: disk.inodesFree };
}
