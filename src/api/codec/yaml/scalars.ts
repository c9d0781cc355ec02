/*
 * What a plain scalar stands for. The rules are those of YAML 1.1 as the reference's reader has them, not those of the
 * YAML libraries for JavaScript: `yes`, `y` and `on` are true, 012 is ten, underscores in numbers count for nothing,
 * sexagesimal numbers and dates are text, and so is a number that no 64-bit float can hold.
 */

export type Scalar = string | number | boolean | null;

const spelled = (value: Scalar, words: string): [string, Scalar][] =>
  words.split(' ').map((word) => [word, value]);

const words: ReadonlyMap<string, Scalar> = new Map([
  ...spelled(true, 'y Y yes Yes YES true True TRUE on On ON'),
  ...spelled(false, 'n N no No NO false False FALSE off Off OFF'),
  ...spelled(null, '~ null Null NULL'),
  ['', null],
  ...spelled(Number.NaN, '.nan .NaN .NAN'),
  ...spelled(Number.POSITIVE_INFINITY, '.inf .Inf .INF +.inf +.Inf +.INF'),
  ...spelled(Number.NEGATIVE_INFINITY, '-.inf -.Inf -.INF'),
]);

/** The value of a plain scalar; a number may be infinite or none at all. */
export function plainScalar(text: string): Scalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  const integer = readInteger(text);
  return integer === undefined ? (readFloat(text) ?? text) : Number(integer);
}

/** A plain scalar as the key of a JSON object; undefined where the reference takes none: for a null. */
export function plainKey(text: string): string | undefined {
  const word = words.get(text);
  if (word !== undefined) return keyOf(word);
  const integer = readInteger(text);
  return integer === undefined ? keyOf(readFloat(text) ?? text) : String(integer);
}

/** A value as a key; undefined for a null. */
export function keyOf(value: Scalar): string | undefined {
  if (value === null) return undefined;
  return typeof value === 'number' ? floatKey(value) : String(value);
}

const shortInteger = /^(?:0|-?[1-9]\d{0,14})$/;
const integerText = /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/;
/** 64 bits in the longest notation, and the prefix. */
const maxIntegerLength = 67;

/** An integer of 64 bits, signed or not; undefined when the text is none. */
export function readInteger(text: string): number | bigint | undefined {
  if (shortInteger.test(text)) return Number(text);
  const [, sign = '', digits = ''] = integerText.exec(withoutUnderscores(text)) ?? [];
  if (digits === '' || digits.length > maxIntegerLength) return undefined;
  const size = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (sign === '-') return size <= 2n ** 63n ? -size : undefined;
  return size < 2n ** 64n ? size : undefined;
}

const floatText = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

/** A finite number that is written as one; undefined when the text is none. */
export function readFloat(text: string): number | undefined {
  const plain = withoutUnderscores(text);
  if (!floatText.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value + 0 : undefined; // + 0: no negative zero, which JSON would not keep
}

/** Behind a sign or a digit they may stand anywhere, behind a point only between digits. */
const separated = /^(?:[-+\d]|\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?$)/;

function withoutUnderscores(text: string): string {
  return text.includes('_') && separated.test(text) ? text.replaceAll('_', '') : text;
}

/** The shortest digits that tell a float of 32 bits, with an exponent from a million on, as Go writes it. */
function floatKey(value: number): string {
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return Number.isNaN(single) ? '.nan' : single < 0 ? '-.inf' : '.inf';
  let digits = 0;
  while (digits < 8 && Math.fround(Number(single.toExponential(digits))) !== single) digits++;
  const shortest = single.toExponential(digits);
  const [mantissa = '', exponent = '0'] = shortest.split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(shortest));
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
