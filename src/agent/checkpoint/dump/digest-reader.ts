import { createHash } from 'node:crypto';
import { readTarHeads } from './tar-heads.ts';

export interface DigestOrder {
  readonly path: string;
  /** Names of files in the archive, and how much of each is wanted. */
  readonly heads: readonly string[];
  readonly headLimitBytes: number;
}

/** What was found in an archive. */
export interface DigestAnswer {
  /** Hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The beginnings of the files that were asked for and are there, by name. */
  readonly heads: ReadonlyMap<string, Uint8Array>;
}

/** Small enough to stay in a processor's cache between the reading and the hashing, which takes a fifth of a millisecond. */
export const chunkBytes = 256 * 1024;

/** Takes an archive in pieces, from end to end. */
export interface DigestReader {
  push(chunk: Uint8Array): void;
  end(): DigestAnswer;
}

export function createDigestReader({ heads: names, headLimitBytes }: DigestOrder): DigestReader {
  const hash = createHash('sha256');
  const tar = readTarHeads(names, headLimitBytes);
  let sizeBytes = 0;
  return {
    push(chunk) {
      hash.update(chunk);
      tar.push(chunk);
      sizeBytes += chunk.length;
    },
    end: () => ({ sha256: hash.digest('hex'), sizeBytes, heads: tar.heads }),
  };
}
