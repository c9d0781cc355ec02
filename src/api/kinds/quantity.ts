/*
 * Quantities as numbers: whole billionths in a bigint, so that they compare and add without error. Smaller fractions are
 * rounded away from zero, as the reference does.
 */

const factors: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 1000n,
  m: 1_000_000n,
  '': 1_000_000_000n,
  k: 10n ** 12n,
  M: 10n ** 15n,
  G: 10n ** 18n,
  T: 10n ** 21n,
  P: 10n ** 24n,
  E: 10n ** 27n,
  Ki: 2n ** 10n * 10n ** 9n,
  Mi: 2n ** 20n * 10n ** 9n,
  Gi: 2n ** 30n * 10n ** 9n,
  Ti: 2n ** 40n * 10n ** 9n,
  Pi: 2n ** 50n * 10n ** 9n,
  Ei: 2n ** 60n * 10n ** 9n,
};

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)$/;

/** Exponents are clamped to this: beyond it a number is out of range anyway. */
const maxExponent = 40;

/** Billionths of a valid quantity. */
export function billionths(quantity: string): bigint {
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = form.exec(quantity) ?? [];
  const power = Math.max(-maxExponent, Math.min(maxExponent, Number(exponent ?? 0)));
  const factor = (factors[suffix] ?? 0n) * 10n ** BigInt(Math.max(power, 0));
  const divisor = 10n ** BigInt(fraction.length + Math.max(-power, 0));
  const size = (BigInt(`${whole}${fraction}` || 0) * factor + divisor - 1n) / divisor;
  return sign === '-' ? -size : size;
}

const one = 1_000_000_000n;

export function isWhole(quantity: string): boolean {
  return billionths(quantity) % one === 0n;
}

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** Billionths with the largest decimal suffix that leaves no fraction, as the reference writes cores. */
export const formatBillionths = (amount: bigint): string => formatScaled(amount, 1000n, decimalSuffixes);

/** Bytes with the largest binary suffix that leaves no fraction. */
export const formatBinary = (bytes: bigint): string => formatScaled(bytes, 1024n, binarySuffixes);

function formatScaled(value: bigint, base: bigint, [suffix = '', ...larger]: readonly string[]): string {
  if (value === 0n) return '0';
  return larger.length > 0 && value % base === 0n
    ? formatScaled(value / base, base, larger)
    : `${value}${suffix}`;
}
