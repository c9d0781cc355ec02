/** The signals for which there are thresholds, named as in the reference. */
export const evictionSignals = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

export type EvictionSignal = (typeof evictionSignals)[number];

/** What must stay free: an amount, with how it was written, or a share of the capacity. */
export type Threshold = { readonly amount: number; readonly text?: string } | { readonly share: number };

/** Without a threshold a signal is ignored. */
export type Thresholds = Readonly<Partial<Record<EvictionSignal, Threshold>>>;

/** When the node is short of something, for how long that is reported, and how pods end for it. */
export interface Eviction {
  readonly hard: Thresholds;
  /** For these pods are evicted once they have been met for their `softGraceMs` without a break. */
  readonly soft: Thresholds;
  readonly softGraceMs: Readonly<Partial<Record<EvictionSignal, number>>>;
  /** What must be free beyond a threshold that was met until it no longer counts as met. */
  readonly reclaim: Thresholds;
  /** How long a pressure is reported after the last time that a threshold counted. */
  readonly transitionMs: number;
  /** The most that a pod gets to end when it is evicted for a soft threshold; negative: its own grace. */
  readonly maxPodGraceSeconds: number;
  /** Whether pods are held to their limits of local storage. */
  readonly limitsStorage: boolean;
}

/** What is reserved for the system and for agents. */
export interface Reserved {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly storageBytes: number;
  /** Processes and threads. */
  readonly pids: number;
}

/** A percentage as a 32-bit float, like the reference, so that the published allocatable is equal to the byte. */
export const toShare = (percent: number): Threshold => ({ share: Math.fround(Math.fround(percent) / 100) });

/** Returns the amount of a threshold for a total of `capacity`. */
export function amountOf(threshold: Threshold | undefined, capacity: number): number {
  if (threshold === undefined) return 0;
  return 'amount' in threshold ? threshold.amount : capacity * threshold.share;
}
