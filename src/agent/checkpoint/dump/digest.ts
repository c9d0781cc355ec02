import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DigestAnswer, DigestOrder } from './digest-reader.ts';
import { chunkBytes, createDigestReader } from './digest-reader.ts';
import type { DigestThread } from './digest-thread.ts';
import { startDigestThread } from './digest-thread.ts';

/** Reads an archive once from end to end, without keeping the event loop. */
export interface Digester extends AsyncDisposable {
  /** One at a time. Rejects when the file cannot be read and when `cancel` aborts. */
  digest(order: DigestOrder, cancel: AbortSignal): Promise<DigestAnswer>;
}

/** To start a thread costs more than to hash so much, piece by piece with the event loop in between. */
const smallBytes = 4 * 1024 * 1024;

/** `expectedBytes` tells whether a thread will be needed: it is then started at once, to be there in time. */
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
