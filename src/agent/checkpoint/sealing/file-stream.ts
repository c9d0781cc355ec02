import type { FileHandle } from 'node:fs/promises';

/** Read and written at a time: what is held of a file, however long it is. */
const pieceBytes = 256 * 1024;

/** A file from its begin to its end, piece by piece as it is asked for. Does not close it. */
export function streamOf(file: FileHandle, read?: (bytes: number) => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = new Uint8Array(pieceBytes);
        const { bytesRead } = await file.read(piece, 0, piece.length, at);
        if (bytesRead === 0) return controller.close();
        at += bytesRead;
        read?.(at);
        controller.enqueue(piece.subarray(0, bytesRead));
      },
    },
    { highWaterMark: 0 },
  );
}
