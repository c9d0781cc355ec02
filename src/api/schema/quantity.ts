/*
 * Quantities in the form in which the reference answers them: the largest suffix with which no fraction is left, in the
 * family of suffixes that the client used. `0.5` is 500m, `1024Mi` 1Gi, `1.5Gi` 1536Mi, `1500` stays. What is finer than a billionth is rounded away from zero, and a binary
 * quantity ends at 2^63 - 1.
 *
 * A text that the reference finds good enough it leaves as it is, although it may not be the shortest: `1.500`, `+5`,
 * `010`. That is kept, because then the same text comes back from both.
 *
 * One thing is done otherwise: beyond E the reference has no suffix and loses the value (1000E becomes 1); here it stays.
 */

interface Parts {
  negative: boolean;
  /** Without leading zeros. */
  whole: string;
  fraction: string;
  suffix: string;
}

const longest = 64;
const form = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,9})?$/;

/** What nearly every quantity is, so it must cost little. None of them is beyond 2^63. */
const usual = /^(?:[1-9]\d{0,8}(?<!000)[mkMGTP]?|[1-9]\d{0,2}[KMGT]i)$/;
const longBinary = /^[1-9](?:\d{3,8}K|\d{3,5}[MGT])i$/;

/** A quantity in its canonical form, the same value; undefined when the text is none. */
export function canonicalQuantity(text: string): string | undefined {
  if (text === '0' || isUsual(text)) return text;
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  if (isZero(parts)) return '0';
  if (isLeftAlone(parts)) return text;
  const canonical = parts.suffix.endsWith('i') ? binaryText(parts) : decimalText(parts);
  return parts.negative ? `-${canonical}` : canonical;
}

function isUsual(text: string): boolean {
  return usual.test(text) || (longBinary.test(text) && Number.parseInt(text, 10) % 1024 !== 0);
}

function partsOf(text: string): Parts | undefined {
  if (text.length > longest) return undefined;
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

/** Whether the reference takes the text as it is, by the rules of its fast way. */
function isLeftAlone({ whole, fraction, suffix }: Parts): boolean {
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

/** With a decimal suffix or an exponent, as the text has it. */
function decimalText({ whole, fraction, suffix }: Parts): string {
  const isExponent = /^[eE]./.test(suffix);
  return decimalOf(whole + fraction, powerOf(suffix) - fraction.length, isExponent);
}

/** Digits times a power of ten, whose exponent becomes a multiple of three. */
function decimalOf(digits: string, power: number, isExponent: boolean): string {
  const rounded = roundedUp(digits.replace(/^0+/, ''), power);
  const significant = rounded.digits.replace(/0+$/, '');
  const exact = rounded.power + rounded.digits.length - significant.length;
  const multiple = 3 * Math.floor(exact / 3);
  const shown = isExponent ? multiple : Math.min(multiple, maxPower);
  const number = significant + '0'.repeat(exact - shown);
  if (shown === 0) return number;
  if (isExponent) return `${number}e${shown}`;
  return number + Object.keys(decimalPowers).find((suffix) => decimalPowers[suffix] === shown);
}

const maxPower = 18;
const minPower = -9;

/** To whole billionths, away from zero. */
function roundedUp(digits: string, power: number): { digits: string; power: number } {
  if (power >= minPower) return { digits, power };
  const kept = Math.max(0, digits.length - (minPower - power));
  const more = /[1-9]/.test(digits.slice(kept)) ? 1n : 0n;
  return { digits: String(BigInt(digits.slice(0, kept) || 0) + more), power: minPower };
}

const maxInt64 = 2n ** 63n - 1n;
const billion = 10n ** 9n;

/** Below 1024, and where a fraction would be left, it is told in decimals. */
function binaryText({ whole, fraction, suffix }: Parts): string {
  const factor = 1024n ** BigInt(binarySuffixes.indexOf(suffix));
  const divisor = 10n ** BigInt(fraction.length);
  const billionths = (BigInt(whole + fraction) * factor * billion + divisor - 1n) / divisor;
  if (billionths > maxInt64 * billion) return String(maxInt64);
  if (billionths % billion !== 0n || billionths < 1024n * billion)
    return decimalOf(String(billionths), -9, false);
  let number = billionths / billion;
  let power = 0;
  for (; number % 1024n === 0n && number >= 1024n; power++) number /= 1024n;
  return `${number}${binarySuffixes[power] ?? ''}`;
}
