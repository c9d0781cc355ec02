import { join } from 'node:path';
import { errorCode } from '../errors.ts';
import { readRegularFile, writeFileAtomic } from '../files.ts';
import type { Pair } from './authority.ts';

const limitBytes = 64 * 1024;

/** Reads `name.crt` and `name.key`; undefined where neither exists. A half that is missing reads as empty. */
export async function readPair(folder: string, name: string): Promise<Pair | undefined> {
  const cert = await readIfThere(join(folder, `${name}.crt`));
  const key = await readIfThere(join(folder, `${name}.key`));
  if (cert === undefined && key === undefined) return undefined;
  return { cert: cert ?? '', key: key ?? '' };
}

/** Writes `name.key` and `name.crt`, both 0600; the certificate last, so that it never exists without its key. */
export async function writePair(folder: string, name: string, pair: Pair): Promise<void> {
  await writeFileAtomic(join(folder, `${name}.key`), pair.key);
  await writeFileAtomic(join(folder, `${name}.crt`), pair.cert);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path, { limitBytes })).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
