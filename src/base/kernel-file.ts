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

/** The whole number that a file of the kernel holds, or undefined. */
export function readKernelNumber(path: string): number | undefined {
  const text = readKernelFile(path)?.trim();
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Number(text);
}
