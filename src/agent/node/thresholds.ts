/** The signals that thresholds are stated for, as the reference names them. */
export const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

export type EvictionSignal = (typeof evictionSignals)[number];

/** What must stay free: an amount, or a share of the capacity. */
export type Threshold = { readonly amount: number } | { readonly share: number };

/** A signal that is left out counts for nothing. */
export type Thresholds = Readonly<Partial<Record<EvictionSignal, Threshold>>>;

/** When a shortage becomes a pressure, and for how long it stays one. */
export interface Eviction {
  readonly hard: Thresholds;
  /** These count once they have been met for their `softGraceMs` without a break. */
  readonly soft: Thresholds;
  readonly softGraceMs: Readonly<Partial<Record<EvictionSignal, number>>>;
  /** What must be free beyond a threshold that was met, before it is met no more. */
  readonly reclaim: Thresholds;
  /** How long a pressure is told after its last sign. */
  readonly transitionMs: number;
}

/** What is kept from pods, for the system and for agents. */
export interface Reserved {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly storageBytes: number;
}

/** A percentage as the reference holds it, in a 32-bit float: the published allocatable is computed with it to the byte. */
export const shareOf = (percent: number): Threshold => ({ share: Math.fround(Math.fround(percent) / 100) });

/** What a threshold comes to where there is `capacity` in all. */
export function amountOf(threshold: Threshold | undefined, capacity: number): number {
  if (threshold === undefined) return 0;
  return 'amount' in threshold ? threshold.amount : capacity * threshold.share;
}
