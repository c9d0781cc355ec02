import type {
  DiskSpace,
  Eviction,
  EvictionSignal,
  Measurements,
  Memory,
  PressureKind,
  Pressures,
  Threshold,
} from '../node/index.ts';
import { amountOf, evictionSignals } from '../node/index.ts';

/** What the thresholds are compared with. */
export interface Observed
  extends Pick<Measurements, 'memory' | 'disk' | 'imageDisk' | 'containerDisk' | 'pids'> {
  /** What all pods together may use, and have left; undefined where that is not limited, or not known. */
  readonly allPodsMemory?: Memory | undefined;
}

export interface Reading {
  readonly capacity: number;
  readonly available: number;
  /** Monotonic: when it was asked for; undefined: just now. */
  readonly askedMs?: number;
}

/** A threshold that is met: less is free than it says, or not yet what must be free besides once it has counted. */
export interface MetThreshold extends Reading {
  readonly signal: EvictionSignal;
  readonly isHard: boolean;
  readonly threshold: Threshold;
}

export interface PressureState {
  readonly pressures: Pressures;
  /** Monotonic: since when the node has been under each pressure without a break. */
  readonly sinceMs: Readonly<Partial<Record<PressureKind, number>>>;
  readonly met: readonly MetThreshold[];
  /** Those that have been met for their grace: something is to be freed. Memory first, then the hard ones. */
  readonly due: readonly MetThreshold[];
}

interface Rule {
  /** Distinguishes the hard and the soft threshold of a signal. */
  readonly id: string;
  readonly signal: EvictionSignal;
  readonly isHard: boolean;
  readonly threshold: Threshold;
  readonly graceMs: number;
}

/** Figures of a file system that has not answered for longer do not say whom to evict. */
const maxAgeMs = 30_000;

const kinds: readonly PressureKind[] = ['memory', 'disk', 'pid'];

/**
 * Follows the thresholds over time, so that a node near one does not flap: a threshold that was due stays met until the minimum
 * reclaim is free in addition, and a pressure stays for the transition period after the last time that a threshold was met. As
 * in the reference, a soft threshold is a pressure at once, and is due after its grace period. A restart of the agent resets all
 * of this. Figures that are too old, or from before the last pod was evicted, keep a pressure, but nothing is due by them: a file
 * system that hangs would cost one pod after the other. Times are monotonic.
 */
export class PressureWatch {
  /** By rule: since when it has been met. */
  readonly #metMs = new Map<string, number>();
  readonly #due = new Set<string>();
  readonly #lastSignMs = new Map<PressureKind, number>();
  readonly #sinceMs = new Map<PressureKind, number>();
  #evictedMs = Number.NEGATIVE_INFINITY;

  /** A pod is evicted: what was measured before says nothing of what that frees. */
  evicted(nowMs: number): void {
    this.#evictedMs = nowMs;
  }

  /** Notes what is measured, and returns what the node is short of. */
  look(observed: Observed, eviction: Eviction, nowMs: number): PressureState {
    const rules = rulesOf(eviction);
    const readings = readingsOf(observed);
    this.#forgetOthers(rules);
    const met = rules.flatMap((rule) => this.#check(rule, readings[rule.signal], eviction, nowMs));
    for (const { rule } of met) this.#lastSignMs.set(kindOf(rule.signal), nowMs);
    const pressures = this.#pressures(observed, eviction, nowMs);
    const isDue = ({ rule, threshold }: (typeof met)[number]) =>
      this.#due.has(rule.id) && this.#isFresh(threshold, nowMs);
    return {
      pressures,
      sinceMs: this.#follow(pressures, nowMs),
      met: met.map(({ threshold }) => threshold),
      due: met
        .filter(isDue)
        .map(({ threshold }) => threshold)
        .sort(byUrgency),
    };
  }

  #check(rule: Rule, reading: Reading | undefined, { reclaim }: Eviction, nowMs: number) {
    const { id, signal, isHard, threshold, graceMs } = rule;
    const more = this.#due.has(id) ? reclaim[signal] : undefined;
    if (reading === undefined || !isShort(reading, threshold, more)) {
      this.#metMs.delete(id);
      this.#due.delete(id);
      return [];
    }
    const firstMs = this.#metMs.get(id) ?? nowMs;
    this.#metMs.set(id, firstMs);
    if (nowMs - firstMs >= graceMs && this.#isFresh(reading, nowMs)) this.#due.add(id);
    return [{ rule, threshold: { ...reading, signal, isHard, threshold } }];
  }

  #isFresh({ askedMs }: Reading, nowMs: number): boolean {
    return askedMs === undefined || (nowMs - askedMs <= maxAgeMs && askedMs > this.#evictedMs);
  }

  #forgetOthers(rules: readonly Rule[]): void {
    const ids = new Set(rules.map(({ id }) => id));
    for (const id of this.#metMs.keys()) if (!ids.has(id)) this.#metMs.delete(id);
    for (const id of this.#due) if (!ids.has(id)) this.#due.delete(id);
  }

  #pressures({ memory, disk, pids }: Observed, { transitionMs }: Eviction, nowMs: number): Pressures {
    const state = (kind: PressureKind, isMeasured: boolean) => {
      const lastMs = this.#lastSignMs.get(kind);
      const isUnder = lastMs !== undefined && (lastMs === nowMs || nowMs - lastMs < transitionMs);
      if (!isUnder) this.#lastSignMs.delete(kind); // what is over does not come back with a longer period
      return isUnder ? true : isMeasured ? false : undefined;
    };
    return {
      memory: state('memory', memory !== undefined),
      disk: state('disk', disk !== undefined),
      pid: state('pid', pids !== undefined),
    };
  }

  #follow(pressures: Pressures, nowMs: number): PressureState['sinceMs'] {
    for (const kind of kinds) {
      if (pressures[kind] !== true) this.#sinceMs.delete(kind);
      else if (!this.#sinceMs.has(kind)) this.#sinceMs.set(kind, nowMs);
    }
    return Object.fromEntries(this.#sinceMs);
  }
}

export function kindOf(signal: EvictionSignal): PressureKind {
  if (signal === 'memory.available' || signal === 'allocatableMemory.available') return 'memory';
  return signal === 'pid.available' ? 'pid' : 'disk';
}

function isShort({ capacity, available }: Reading, threshold: Threshold, more: Threshold | undefined) {
  return available < amountOf(threshold, capacity) + amountOf(more, capacity);
}

function byUrgency(a: MetThreshold, b: MetThreshold): number {
  const rank = ({ signal, isHard }: MetThreshold) => (kindOf(signal) === 'memory' ? 0 : 2) + (isHard ? 0 : 1);
  return rank(a) - rank(b);
}

/** The hard threshold of memory counts for what all pods together may use, too, unless that has its own. */
function rulesOf({ hard, soft, softGraceMs }: Eviction): Rule[] {
  return evictionSignals.flatMap((signal) => {
    const isOfPods = signal === 'allocatableMemory.available';
    const ofHard = hard[signal] ?? (isOfPods ? hard['memory.available'] : undefined);
    const ofSoft = soft[signal];
    const rule = { signal, graceMs: 0 };
    return [
      ...(ofHard === undefined ? [] : [{ ...rule, id: `hard ${signal}`, isHard: true, threshold: ofHard }]),
      ...(ofSoft === undefined
        ? []
        : [
            {
              ...{ ...rule, id: `soft ${signal}`, isHard: false, threshold: ofSoft },
              graceMs: softGraceMs[signal] ?? 0,
            },
          ]),
    ];
  });
}

/** A resource that is not measured is not short. */
function readingsOf(observed: Observed): Record<EvictionSignal, Reading | undefined> {
  const { memory, allPodsMemory, disk, imageDisk, containerDisk, pids } = observed;
  return {
    'memory.available': memoryOf(memory),
    'allocatableMemory.available': memoryOf(allPodsMemory),
    'nodefs.available': bytesOf(disk),
    'nodefs.inodesFree': inodesOf(disk),
    'imagefs.available': bytesOf(imageDisk),
    'imagefs.inodesFree': inodesOf(imageDisk),
    'containerfs.available': bytesOf(containerDisk),
    'containerfs.inodesFree': inodesOf(containerDisk),
    'pid.available': pids && { capacity: pids.limit, available: pids.limit - pids.used },
  };
}

function memoryOf(memory: Memory | undefined): Reading | undefined {
  return memory && { capacity: memory.capacityBytes, available: memory.availableBytes };
}

function bytesOf(disk: DiskSpace | undefined): Reading | undefined {
  return disk && { capacity: disk.capacityBytes, available: disk.availableBytes, askedMs: disk.askedMs };
}

/** Some file systems have no fixed number of inodes, and so none to run out of. */
function inodesOf(disk: DiskSpace | undefined): Reading | undefined {
  return disk === undefined || disk.inodes === 0
    ? undefined
    : { capacity: disk.inodes, available: disk.inodesFree, askedMs: disk.askedMs };
}
