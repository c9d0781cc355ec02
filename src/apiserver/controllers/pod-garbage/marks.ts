import type { Stored } from '../../storage/index.ts';

const deletionMark = Buffer.from('"deletionTimestamp":"');
const endedMarks = ['Succeeded', 'Failed'].map((phase) => Buffer.from(`"phase":"${phase}"`));

/*
 * Told without parsing, as most pods need no look: what is quoted inside a string is escaped there, but a key of the
 * same name may stand elsewhere in the object, so these only say which pods to read.
 */

export function mayBeGoing({ value }: Stored): boolean {
  return bytesOf(value).includes(deletionMark);
}

export function mayHaveEnded({ value }: Stored): boolean {
  const bytes = bytesOf(value);
  return endedMarks.some((mark) => bytes.includes(mark));
}

function bytesOf(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
