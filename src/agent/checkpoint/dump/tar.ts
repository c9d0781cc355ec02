import type { FileHandle } from 'node:fs/promises';

const blockBytes = 512;
/** Where a header keeps the sum of its bytes, itself counted as spaces. */
const sumAt = { start: 148, end: 156 } as const;

/** Whether the block is a header of a tar archive: its checksum is right. */
export function isTarHeader(block: Uint8Array): boolean {
  if (block.length !== blockBytes || block[0] === 0) return false;
  const text = Buffer.from(block.subarray(sumAt.start, sumAt.end)).toString('latin1');
  const told = Number.parseInt(text.replace(/[\0 ]+/g, ' ').trim(), 8);
  const sum = block.reduce(
    (total, byte, at) => total + (at >= sumAt.start && at < sumAt.end ? 0x20 : byte),
    0,
  );
  return told === sum;
}

/** Whether the file begins as a tar archive does. */
export async function beginsAsTar(file: FileHandle): Promise<boolean> {
  const block = new Uint8Array(blockBytes);
  const { bytesRead } = await file.read(block, 0, blockBytes, 0);
  return isTarHeader(block.subarray(0, bytesRead));
}
