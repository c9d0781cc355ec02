import type { Stored } from '../../storage/index.ts';

const deletionText = Buffer.from('"deletionTimestamp":"');
const endedTexts = ['Succeeded', 'Failed'].map((phase) => Buffer.from(`"phase":"${phase}"`));

/*
 * Tests of the stored bytes, without parsing, since most pods need no further check. Quotes inside a string are escaped,
 * but a key of the same name may occur elsewhere in the object, so these only tell which pods to parse.
 */

export function mayBeDeleted({ value }: Stored): boolean {
  return bytesOf(value).includes(deletionText);
}

export function mayHaveEnded({ value }: Stored): boolean {
  const bytes = bytesOf(value);
  return endedTexts.some((text) => bytes.includes(text));
}

function bytesOf(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
