/*
 * Quantities in the form in which the reference returns them: the largest suffix that leaves no fraction, in the family of
 * suffixes that the client used. `0.5` is 500m, `1024Mi` 1Gi, `1.5Gi` 1536Mi, `1500` stays. Digits below a billionth are
 * rounded away from zero, and a binary quantity is at most 2^63 - 1.
 *
 * Some texts the reference keeps verbatim although they are not the shortest: `1.500`, `+5`, `010`. So does this file, so
 * that both return the same text.
 *
 * There is one difference: beyond E the reference has no suffix and loses the value (1000E becomes 1); here it stays.
 */

interface Parts {
  negative: boolean;
  /** Without leading zeros. */
  whole: string;
  fraction: string;
  suffix: string;
}

const maxLength = 64;
const form = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,9})?$/;

/** The form of nearly every quantity, so the check must be cheap. None of them is beyond 2^63. */
const usualQuantity = /^(?:[1-9]\d{0,8}(?<!000)[mkMGTP]?|[1-9]\d{0,2}[KMGT]i)$/;
const longBinary = /^[1-9](?:\d{3,8}K|\d{3,5}[MGT])i$/;

/** The canonical form of a quantity, with the same value; undefined when the text is not a quantity. */
export function canonicalQuantity(text: string): string | undefined {
  if (text === '0' || isUsual(text)) return text;
  const parts = parseParts(text);
  if (parts === undefined) return undefined;
  if (isZero(parts)) return '0';
  if (isKeptVerbatim(parts)) return text;
  const canonical = parts.suffix.endsWith('i') ? formatBinary(parts) : formatDecimal(parts);
  return parts.negative ? `-${canonical}` : canonical;
}

function isUsual(text: string): boolean {
  return usualQuantity.test(text) || (longBinary.test(text) && Number.parseInt(text, 10) % 1024 !== 0);
}

function parseParts(text: string): Parts | undefined {
  if (text.length > maxLength) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = form.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  return { negative: sign === '-', whole: whole.replace(/^0+/, ''), fraction, suffix };
}

function isZero({ whole, fraction }: Parts): boolean {
  return /^0*$/.test(whole + fraction);
}

const decimalPowers: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function powerOf(suffix: string): number {
  return decimalPowers[suffix] ?? Number(suffix.slice(1));
}

/** Whether the reference keeps the text verbatim, by the rules of its fast path. */
function isKeptVerbatim({ whole, fraction, suffix }: Parts): boolean {
  const digits = (whole || '0') + fraction;
  if (suffix.endsWith('i')) {
    const power = 10 * binarySuffixes.indexOf(suffix);
    const fits = fraction === '' && digits.length <= 14 - Math.floor((power * 3) / 10);
    return fits && Number(digits) % 8 !== 0;
  }
  const power = powerOf(suffix) - fraction.length;
  if (digits.length > 18 || power < -9 || power % 3 !== 0) return false;
  return !digits.endsWith('000') && !digits.startsWith('0');
}

/** Formats with a decimal suffix or an exponent, whichever the text has. */
function formatDecimal({ whole, fraction, suffix }: Parts): string {
  const isExponent = /^[eE]./.test(suffix);
  return formatPower(whole + fraction, powerOf(suffix) - fraction.length, isExponent);
}

/** Formats digits times a power of ten, with an exponent that is a multiple of three. */
function formatPower(digits: string, power: number, isExponent: boolean): string {
  const rounded = roundUp(digits.replace(/^0+/, ''), power);
  const significant = rounded.digits.replace(/0+$/, '');
  const exact = rounded.power + rounded.digits.length - significant.length;
  const multiple = 3 * Math.floor(exact / 3);
  const exponent = isExponent ? multiple : Math.min(multiple, maxPower);
  const number = significant + '0'.repeat(exact - exponent);
  if (exponent === 0) return number;
  if (isExponent) return `${number}e${exponent}`;
  return number + Object.keys(decimalPowers).find((suffix) => decimalPowers[suffix] === exponent);
}

const maxPower = 18;
const minPower = -9;

/** Rounds to whole billionths, away from zero. */
function roundUp(digits: string, power: number): { digits: string; power: number } {
  if (power >= minPower) return { digits, power };
  const kept = Math.max(0, digits.length - (minPower - power));
  const more = /[1-9]/.test(digits.slice(kept)) ? 1n : 0n;
  return { digits: String(BigInt(digits.slice(0, kept) || 0) + more), power: minPower };
}

const maxInt64 = 2n ** 63n - 1n;
const billion = 10n ** 9n;

/** Formats with a binary suffix; below 1024, and where a fraction would be left, as a decimal quantity. */
function formatBinary({ whole, fraction, suffix }: Parts): string {
  const factor = 1024n ** BigInt(binarySuffixes.indexOf(suffix));
  const divisor = 10n ** BigInt(fraction.length);
  const billionths = (BigInt(whole + fraction) * factor * billion + divisor - 1n) / divisor;
  if (billionths > maxInt64 * billion) return String(maxInt64);
  if (billionths % billion !== 0n || billionths < 1024n * billion)
    return formatPower(String(billionths), -9, false);
  let number = billionths / billion;
  let power = 0;
  for (; number % 1024n === 0n && number >= 1024n; power++) number /= 1024n;
  return `${number}${binarySuffixes[power] ?? ''}`;
}
