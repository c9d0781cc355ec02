import type { FileHandle } from 'node:fs/promises';

/** Read at a time; no more of the file is kept in memory. */
const chunkBytes = 256 * 1024;

/** Streams a file from its start to its end as the consumer pulls; `read` is called with the bytes read so far. Does not close it. */
export function createFileStream(
  file: FileHandle,
  read?: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = new Uint8Array(chunkBytes);
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) return controller.close();
        at += bytesRead;
        read?.(at);
        controller.enqueue(chunk.subarray(0, bytesRead));
      },
    },
    { highWaterMark: 0 },
  );
}
