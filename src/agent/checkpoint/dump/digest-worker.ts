/**
 * A thread that reads an archive once, from its start to its end, for its SHA-256 and the beginnings of some files in it.
 * Hashing reaches some gigabytes a second at best, and would block the event loop meanwhile.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { ArchiveDigest, DigestRequest } from './digest-reader.ts';
import { chunkBytes, createDigestReader } from './digest-reader.ts';

function digest(order: DigestRequest): ArchiveDigest {
  const reader = createDigestReader(order);
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  const file = openSync(order.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    for (;;) {
      const read = readSync(file, buffer, 0, buffer.length, null);
      if (read === 0) return reader.end();
      reader.push(buffer.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
}

parentPort?.on('message', (order: DigestRequest) => {
  try {
    parentPort?.postMessage(digest(order));
  } catch (error) {
    parentPort?.postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});
