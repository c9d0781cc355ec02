/*
 * Values of plain scalars. The rules are those of YAML 1.1 as the reference's reader has them, not those of the YAML
 * libraries for JavaScript: `yes`, `y` and `on` are true, 012 is ten, underscores in numbers are ignored, sexagesimal
 * numbers and dates are text, and so is a number that no 64-bit float can represent.
 */

export type Scalar = string | number | boolean | null;

const spell = (value: Scalar, words: string): [string, Scalar][] =>
  words.split(' ').map((word) => [word, value]);

const words: ReadonlyMap<string, Scalar> = new Map([
  ...spell(true, 'y Y yes Yes YES true True TRUE on On ON'),
  ...spell(false, 'n N no No NO false False FALSE off Off OFF'),
  ...spell(null, '~ null Null NULL'),
  ['', null],
  ...spell(Number.NaN, '.nan .NaN .NAN'),
  ...spell(Number.POSITIVE_INFINITY, '.inf .Inf .INF +.inf +.Inf +.INF'),
  ...spell(Number.NEGATIVE_INFINITY, '-.inf -.Inf -.INF'),
]);

/** The value of a plain scalar; a number may be infinite or NaN. */
export function parsePlainScalar(text: string): Scalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  const integer = readInteger(text);
  return integer === undefined ? (readFloat(text) ?? text) : Number(integer);
}

/** A plain scalar as the key of a JSON object; undefined for a null, which the reference refuses as a key. */
export function parsePlainKey(text: string): string | undefined {
  const word = words.get(text);
  if (word !== undefined) return toKey(word);
  const integer = readInteger(text);
  return integer === undefined ? toKey(readFloat(text) ?? text) : String(integer);
}

/** A value as a key; undefined for a null. */
export function toKey(value: Scalar): string | undefined {
  if (value === null) return undefined;
  return typeof value === 'number' ? formatFloatKey(value) : String(value);
}

const shortInteger = /^(?:0|-?[1-9]\d{0,14})$/;
const integerText = /^([-+]?)(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/;
/** 64 binary digits, the longest notation, and the prefix. */
const maxIntegerLength = 67;

/** A signed or unsigned 64-bit integer; undefined when the text is not one. */
export function readInteger(text: string): number | bigint | undefined {
  if (shortInteger.test(text)) return Number(text);
  const [, sign = '', digits = ''] = integerText.exec(withoutUnderscores(text)) ?? [];
  if (digits === '' || digits.length > maxIntegerLength) return undefined;
  const size = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (sign === '-') return size <= 2n ** 63n ? -size : undefined;
  return size < 2n ** 64n ? size : undefined;
}

const floatText = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;

/** A finite number; undefined when the text is not one. */
function readFloat(text: string): number | undefined {
  const plain = withoutUnderscores(text);
  if (!floatText.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value + 0 : undefined; // + 0: no negative zero, which JSON would not keep
}

/** Underscores may be anywhere after a sign or a digit; in a number that begins with a point, only between digits. */
const separated = /^(?:[-+\d]|\.\d+(?:_\d+)*(?:[eE][-+]?\d+(?:_\d+)*)?$)/;

function withoutUnderscores(text: string): string {
  return text.includes('_') && separated.test(text) ? text.replaceAll('_', '') : text;
}

/** The shortest digits that identify a 32-bit float, with an exponent from a million on, as Go formats it. */
function formatFloatKey(value: number): string {
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
