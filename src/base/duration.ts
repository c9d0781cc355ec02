/*
 * Durations as Go writes them, `1h2m3.5s`, in nanoseconds. They reach to 292 years, so they are bigints.
 */

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ns: 1n,
};
const maxNanoseconds = 2n ** 63n - 1n;

/** Nanoseconds of a text such as `-1.5h`, fractions of one cut off. Undefined when it is no duration, or beyond 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  const [, sign, amount = ''] = /^([+-]?)(.+)$/.exec(text) ?? [];
  if (amount === '0') return 0n;
  let total = 0n;
  let rest = amount;
  while (rest !== '') {
    const part = /^(?=\.?\d)(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/.exec(rest);
    const unit = unitNanoseconds[part?.[3] ?? ''];
    if (part === null || unit === undefined) return undefined;
    const [whole, digits = '', fraction = ''] = part;
    total += BigInt(digits) * unit + (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
    if (total > maxNanoseconds) return undefined;
    rest = rest.slice(whole.length);
  }
  if (amount === '') return undefined;
  return sign === '-' ? -total : total;
}

/** The text that Go writes: hours, minutes and seconds, or one smaller unit when it is less than a second. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  return `${sign}${size < 1_000_000_000n ? formatBelowSecond(size) : formatFromSecond(size)}`;
}

function formatBelowSecond(size: bigint): string {
  if (size < 1000n) return `${size}ns`;
  return size < 1_000_000n ? `${formatDecimal(size, 3)}µs` : `${formatDecimal(size, 6)}ms`;
}

function formatFromSecond(size: bigint): string {
  const seconds = formatDecimal(size % 60_000_000_000n, 9);
  const minutes = size / 60_000_000_000n;
  if (minutes === 0n) return `${seconds}s`;
  const hours = minutes / 60n;
  return `${hours === 0n ? '' : `${hours}h`}${minutes % 60n}m${seconds}s`;
}

/** `value` with its last `digits` digits behind a point, without zeros at the end. */
function formatDecimal(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const fraction = String(value % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${value / unit}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Milliseconds of a duration that has been validated; 0 for any other text. */
export function durationMs(text: string): number {
  return Number(parseDuration(text) ?? 0n) / 1e6;
}
