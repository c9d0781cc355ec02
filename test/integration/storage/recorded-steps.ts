import { createHash } from 'node:crypto';

/** How many write at once, each its own key. */
export const writers = 10;

export function keyOf(writer: number): string {
  return `/registry/${writer % 2 === 0 ? 'leases' : 'configmaps'}/default/writer-${writer}`;
}

/** Every seventh step of a writer deletes its key. */
export function stepsOf(step: number): 'put' | 'delete' {
  return step % 7 === 0 ? 'delete' : 'put';
}

/** What a writer stores in a step: told by its numbers alone, of 16 bytes to 24 KiB. */
export function contentOf(writer: number, step: number): Uint8Array {
  const seed = createHash('sha256').update(`${writer} ${step}`).digest();
  const size = 16 + ((seed.readUInt16BE(0) * seed.readUInt8(2)) % (24 * 1024));
  const content = Buffer.alloc(size);
  for (let at = 0; at < size; at += seed.length) seed.copy(content, at);
  return content;
}
