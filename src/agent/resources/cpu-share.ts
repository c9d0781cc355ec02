/** The shares of a group that requests no cpu. */
export const minShares = 2;
const maxShares = 262_144;
const minQuotaUs = 1000;

/** Whole thousandths of a cpu, rounded up. */
export function cpuMillis(amount: bigint | undefined): number {
  return amount === undefined ? 0 : Number(divideUp(amount, 1_000_000n));
}

/** Whole units, rounded up: bytes of memory. */
export function wholeOf(amount: bigint | undefined): number {
  return amount === undefined ? 0 : Number(divideUp(amount, 1_000_000_000n));
}

export function divideUp(amount: bigint, divisor: bigint): bigint {
  return amount <= 0n ? amount / divisor : (amount + divisor - 1n) / divisor;
}

/** `cpu.shares` of cgroup v1 for a request: 1024 for a whole cpu. */
export function sharesOf(millis: number): number {
  return Math.min(maxShares, Math.max(minShares, Math.trunc((millis * 1024) / 1000)));
}

/** Microseconds of each period that may be used; 0, no limit, without one. */
export function quotaOf(millis: number, periodUs: number): number {
  return millis === 0 ? 0 : Math.max(minQuotaUs, Math.trunc((millis * periodUs) / 1000));
}

/** `cpu.weight` of cgroup v2 for shares: 1 for the fewest, 10000 for the most. */
export function weightOf(shares: number): number {
  return Math.trunc(1 + ((shares - minShares) * 9999) / (maxShares - minShares));
}
