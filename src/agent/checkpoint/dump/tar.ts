import type { FileHandle } from 'node:fs/promises';

const blockBytes = 512;
/** The field of a header that holds the sum of its bytes; the field's own bytes count as spaces. */
const checksumField = { start: 148, end: 156 } as const;

/** Whether the block is a header of a tar archive, by its checksum. */
export function isTarHeader(block: Uint8Array): boolean {
  if (block.length !== blockBytes || block[0] === 0) return false;
  const text = Buffer.from(block.subarray(checksumField.start, checksumField.end)).toString('latin1');
  const expected = Number.parseInt(text.replace(/[\0 ]+/g, ' ').trim(), 8);
  const sum = block.reduce(
    (total, byte, at) => total + (at >= checksumField.start && at < checksumField.end ? 0x20 : byte),
    0,
  );
  return expected === sum;
}

/** Whether the file starts with a header of a tar archive. */
export async function isTarFile(file: FileHandle): Promise<boolean> {
  const block = new Uint8Array(blockBytes);
  const { bytesRead } = await file.read(block, 0, blockBytes, 0);
  return isTarHeader(block.subarray(0, bytesRead));
}
