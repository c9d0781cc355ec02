import type { LogFile } from './chain.ts';

/*
 * Where the last records of a log begin. A file is read backwards from its end, so that the end of a long one costs little; one
 * that is compressed has to be read as a whole.
 */

/** Where to begin in a file: at a place in it, or behind as many of its records. */
export interface Start {
  readonly position: number;
  /** Of one that is compressed. */
  readonly skippedRecords: number;
}

export const wholeFile: Start = { position: 0, skippedRecords: 0 };

const blockBytes = 64 * 1024;
const newline = 0x0a;

/** Where the last `count` records of the files begin, the oldest of the files first. What is before the result is not needed. */
export async function findTail(
  files: readonly LogFile[],
  count: number,
): Promise<{ readonly first: number; readonly start: Start }> {
  let missing = count;
  for (let first = files.length - 1; first >= 0; first -= 1) {
    const file = files[first];
    if (file === undefined) break;
    const { start, found } = file.isCompressed
      ? await findForwards(file, missing)
      : await findBackwards(file, missing);
    missing -= found;
    if (missing === 0) return { first, start };
  }
  return { first: 0, start: wholeFile };
}

async function findBackwards(file: LogFile, count: number): Promise<{ start: Start; found: number }> {
  const block = Buffer.allocUnsafe(blockBytes);
  let found = -1; // the end of the last record is not the begin of one that counts
  for (let end = await file.size(); end > 0; end -= Math.min(blockBytes, end)) {
    const from = Math.max(0, end - blockBytes);
    const length = await file.read(block.subarray(0, end - from), from);
    for (let at = length - 1; at >= 0; at -= 1) {
      if (block[at] !== newline) continue;
      found += 1;
      if (found === count) return { start: { position: from + at + 1, skippedRecords: 0 }, found };
    }
  }
  return { start: wholeFile, found: found + 1 };
}

async function findForwards(file: LogFile, count: number): Promise<{ start: Start; found: number }> {
  let records = 0;
  for await (const piece of file.contents()) records += countRecords(piece);
  const found = Math.min(records, count);
  return { start: { position: 0, skippedRecords: records - found }, found };
}

function countRecords(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) count += 1;
  return count;
}

/** What is behind the first `count` records of `pieces`. */
export async function* skipRecords(pieces: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const piece of pieces) {
    let from = 0;
    for (; left > 0 && from < piece.length; left -= 1) {
      const end = piece.indexOf(newline, from);
      if (end < 0) break;
      from = end + 1;
    }
    if (left === 0 && from < piece.length) yield piece.subarray(from);
  }
}
