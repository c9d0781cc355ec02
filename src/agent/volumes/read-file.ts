import { closeSync, fstatSync } from 'node:fs';
import { errorCode, readRegularFile } from '../../base/index.ts';
import { descend } from './descend.ts';

/** Far more than a file of variables needs. */
const limitBytes = 1024 * 1024;

/**
 * Reads a text file of a volume that containers fill, by its path in the volume: whatever they exchange meanwhile, the file is one of
 * the volume. Rejects with an Error for people.
 */
export async function readVolumeFile(base: string, path: string): Promise<string> {
  const descriptor = reach(base, path);
  try {
    const facts = fstatSync(descriptor);
    if (!facts.isFile()) throw new Error('it is no regular file');
    if (facts.size > limitBytes) throw new Error(`it is longer than ${limitBytes} bytes`);
    return decode(await readRegularFile(`/proc/self/fd/${descriptor}`, { limitBytes }));
  } finally {
    closeSync(descriptor);
  }
}

function reach(base: string, path: string): number {
  try {
    return descend(base, path, false).descriptor;
  } catch (error) {
    // without the cause, which names a descriptor of this process
    if (errorCode(error) === 'ENOENT') throw new Error('there is no such file');
    throw error;
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is no text in UTF-8');
  }
}
