import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

/*
 * Files of /proc and /sys are read synchronously on purpose. They come from the kernel's memory in microseconds, and a
 * read in the thread pool would queue behind one that hangs on a mount, which must not stop the heartbeat.
 */

const limitBytes = 256 * 1024;

/** The first 256 KiB of a file of the kernel; undefined where it is missing or may not be read. */
export function readKernelFile(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readUpTo(descriptor, limitBytes);
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Reused: a read is synchronous, and a new buffer for each of thousands a minute would keep the collector busy. */
const chunk = Buffer.allocUnsafeSlow(16 * 1024);

function readUpTo(descriptor: number, limit: number): string {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total < limit) {
    const count = readSync(descriptor, chunk, 0, Math.min(chunk.length, limit - total), null);
    if (count === 0) break;
    chunks.push(Buffer.from(chunk.subarray(0, count)));
    total += count;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The names in a folder of the kernel, sorted; none where it is missing. */
export function readKernelFolder(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return [];
  }
}

/** The count that a file of the kernel holds, or undefined. */
export function readKernelNumber(path: string): number | undefined {
  return parseKernelCount(readKernelFile(path));
}

/** The kernel's counts have 64 bits. */
const maxCount = 2 ** 64;

/** A count as the kernel writes it, with blanks around it or without; undefined for whatever else is there. Beyond 2^53 rounded. */
export function parseKernelCount(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  if (!/^\d{1,20}$/.test(trimmed)) return undefined;
  const count = Number(trimmed);
  return count < maxCount ? count : undefined;
}

/** The count in the line that begins with `key` and a blank. Searches instead of splitting: memory.stat has 60 lines. */
export function findKernelCount(text: string | undefined, key: string): number | undefined {
  if (text === undefined) return undefined;
  const start = `${key} `;
  const before = text.startsWith(start) ? 0 : text.indexOf(`\n${start}`) + 1;
  if (before === 0 && !text.startsWith(start)) return undefined;
  const at = before + start.length;
  const end = text.indexOf('\n', at);
  return parseKernelCount(text.slice(at, end === -1 ? undefined : end));
}
