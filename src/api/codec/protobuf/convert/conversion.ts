import type { JsonCursor } from '../../../json/index.ts';
import type { Parts } from './parts.ts';

/** Bytes that are being written. What is written behind their end is lost without an error. */
export interface Output {
  readonly bytes: Uint8Array;
  /** Where the next byte is written. */
  end: number;
}

/**
 * An object on its way from the bytes of its JSON to the bytes of its message. When the room is not enough, `end` is beyond
 * the length of `bytes` afterwards, and the conversion is done again with more.
 */
export interface Conversion extends JsonCursor, Output {
  /** The resourceVersion that the object gets, which its JSON does not have. 0: none. */
  readonly revision: number;
  /** Set while the metadata that get it are next. */
  isRevisionDue: boolean;
  readonly parts: Parts;
}

/** Writes an integer from 0 to 2^53. */
export function writeVarint(output: Output, value: number): void {
  const { bytes } = output;
  let { end } = output;
  let rest = value;
  for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 0x80)) bytes[end++] = (rest % 0x80) | 0x80;
  for (; rest > 0x7f; rest >>>= 7) bytes[end++] = (rest & 0x7f) | 0x80;
  bytes[end++] = rest;
  output.end = end;
}

/** Leaves room for the length of what follows; `closeLength` takes the result. */
export function openLength(output: Output): number {
  return output.end++;
}

/** Writes the length of what was written since `openLength`. A length of more than one byte moves that on. */
export function closeLength(output: Output, lengthAt: number): void {
  const { bytes, end } = output;
  const length = end - lengthAt - 1;
  if (length < 0x80) {
    bytes[lengthAt] = length;
    return;
  }
  const more = sizeOfVarint(length) - 1;
  bytes.copyWithin(lengthAt + 1 + more, lengthAt + 1, end);
  output.end = lengthAt;
  writeVarint(output, length);
  output.end = end + more;
}

export function sizeOfVarint(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/** Copies a part of the JSON as it is. */
export function copyJson(conversion: Conversion, from: number, to: number): void {
  const { json, bytes, end } = conversion;
  conversion.end = end + to - from;
  moveBytes(json, from, to, bytes, end);
}

/** A call into native code costs as much as a loop over so many bytes. */
const loopBytes = 100;

/** Copies bytes; what goes beyond the end of `target` is lost. */
export function moveBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): void {
  const length = to - from;
  if (length > loopBytes) {
    if (at + length <= target.length) target.set(source.subarray(from, to), at);
    return;
  }
  for (let offset = 0; offset < length; offset++) target[at + offset] = source[from + offset] ?? 0;
}

/** Appends bytes that were made elsewhere. */
export function writeBytesAsTheyAre(output: Output, made: Uint8Array): void {
  const { bytes, end } = output;
  output.end = end + made.length;
  if (output.end <= bytes.length) bytes.set(made, end);
}
