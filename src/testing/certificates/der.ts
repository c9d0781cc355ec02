/*
 * Just enough DER (ITU-T X.690) to write a certificate. The library that production code uses takes 30 ms to load and, at
 * first, 20 ms for a certificate: half of the start of a server for tests.
 */

/** A value with its tag and length; `parts` are concatenated. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

function lengthOf(bytes: number): number[] {
  if (bytes < 0x80) return [bytes];
  return bytes < 0x100 ? [0x81, bytes] : [0x82, bytes >> 8, bytes & 0xff];
}

export const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
export const octets = (...parts: readonly Uint8Array[]) => tagged(0x04, ...parts);
export const text = (value: string) => tagged(0x0c, Buffer.from(value));
export const booleanTrue = tagged(0x01, Buffer.from([0xff]));
/** Big-endian two's complement: the first bit is the sign. */
export const integer = (...bytes: readonly number[]) => tagged(0x02, Buffer.from(bytes));
/** Context-specific, constructed: `[number]` in ASN.1. */
export const contextTagged = (number: number, ...parts: readonly Uint8Array[]) =>
  tagged(0xa0 | number, ...parts);
/** `unused`: number of unused bits at the end. */
export const bits = (bytes: Uint8Array, unused = 0) => tagged(0x03, Buffer.from([unused]), bytes);

/** An object identifier in dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

/** Whole seconds; UTCTime before 2050, GeneralizedTime from then on (RFC 5280, 4.1.2.5). */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return ms < Date.UTC(2050, 0, 1)
    ? tagged(0x17, Buffer.from(digits.slice(2)))
    : tagged(0x18, Buffer.from(digits));
}
