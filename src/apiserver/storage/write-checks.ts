import type { FailureCode, Outcome, Write } from './types.ts';
import { maxKeyBytes, maxValueBytes } from './types.ts';

/** A failed commit. */
export function failure(code: FailureCode, cause: Error): Outcome {
  return { ok: false, code, cause };
}

/** The failure of a write that no backend can accept; undefined when it is acceptable. */
export function checkWrite(write: Write): Outcome | undefined {
  const { key, value, expect } = write;
  if (key === '' || !key.isWellFormed() || isLong(key)) {
    const start = JSON.stringify(key.slice(0, 80));
    const rule = `a key is well-formed text of 1 to ${maxKeyBytes} bytes`;
    return failure('invalid', new Error(`cannot store under ${start}: ${rule}`));
  }
  if (!Number.isSafeInteger(expect) || expect < 0) {
    return failure('invalid', new Error(`cannot store ${key}: ${expect} is no revision to expect`));
  }
  if (value !== null && value.byteLength > maxValueBytes) {
    const sizes = `${value.byteLength} bytes, at most ${maxValueBytes} are possible`;
    return failure('tooLarge', new Error(`cannot store ${key}: it has ${sizes}`));
  }
  return undefined;
}

function isLong(key: string): boolean {
  return key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes;
}

/**
 * The bytes to keep. A small view of a large buffer (such as one of Node's pooled buffers) is copied, since keeping it
 * would keep the whole buffer in memory.
 */
export function bytesToKeep(value: Uint8Array): Uint8Array {
  return value.buffer.byteLength > 2 * value.byteLength ? new Uint8Array(value) : value;
}
