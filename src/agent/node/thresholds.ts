/** What must stay free: an amount, or a share of the capacity. Undefined for a signal: it counts for nothing. */
export type Threshold = { readonly amount: number } | { readonly share: number };

export interface HardEviction {
  /** memory.available, in bytes */
  readonly memory: Threshold | undefined;
  /** nodefs.available, in bytes */
  readonly nodefs: Threshold | undefined;
  /** nodefs.inodesFree */
  readonly nodefsInodes: Threshold | undefined;
  /** pid.available */
  readonly pid: Threshold | undefined;
}

/** What is kept from pods, for the system and for agents. */
export interface Reserved {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly storageBytes: number;
}

/** A percentage as the reference holds it, in a 32-bit float: the published allocatable is computed with it to the byte. */
export const shareOf = (percent: number): Threshold => ({ share: Math.fround(Math.fround(percent) / 100) });

/** The default hard eviction thresholds. */
export const hardEviction: HardEviction = {
  memory: { amount: 100 * 1024 * 1024 },
  nodefs: shareOf(10),
  nodefsInodes: shareOf(5),
  pid: shareOf(10),
};

export const nothingReserved: Reserved = { cpuMillis: 0, memoryBytes: 0, storageBytes: 0 };

/** What a threshold comes to where there is `capacity` in all. */
export function amountOf(threshold: Threshold | undefined, capacity: number): number {
  if (threshold === undefined) return 0;
  return 'amount' in threshold ? threshold.amount : capacity * threshold.share;
}
