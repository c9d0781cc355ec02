import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ArchiveDigest, DigestRequest } from './digest-reader.ts';
import { chunkBytes, createDigestReader } from './digest-reader.ts';
import type { DigestThread } from './digest-thread.ts';
import { startDigestThread } from './digest-thread.ts';

/** Reads an archive once, from its start to its end, without blocking the event loop. */
export interface Digester extends AsyncDisposable {
  /** One call at a time. Rejects when the file cannot be read and when `cancel` aborts. */
  digest(order: DigestRequest, cancel: AbortSignal): Promise<ArchiveDigest>;
}

/** Up to this size hashing on the event loop, in pieces, costs less than starting a thread. */
const smallBytes = 4 * 1024 * 1024;

/** If `expectedBytes` means that a thread will be needed, it is started at once, to be ready in time. */
export function createDigester(expectedBytes: number): Digester {
  let thread: DigestThread | undefined = expectedBytes > smallBytes ? startDigestThread() : undefined;
  return {
    async digest(order, cancel) {
      await using file = await open(
        order.path,
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      if ((await file.stat()).size > smallBytes) {
        thread ??= startDigestThread();
        return await thread.digest(order, cancel);
      }
      const reader = createDigestReader(order);
      const buffer = Buffer.allocUnsafe(chunkBytes);
      for (;;) {
        cancel.throwIfAborted();
        const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0) return reader.end();
        reader.push(buffer.subarray(0, bytesRead));
      }
    },
    async [Symbol.asyncDispose]() {
      await thread?.[Symbol.asyncDispose]();
    },
  };
}
