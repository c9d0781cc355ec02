import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { LongBody } from './list-body.ts';

/** A client that takes longer to read a piece is cut off. */
const maxStallMs = 60_000;

/**
 * Sends a response with the headers of `reply`, piece by piece as the client reads them, so that a slow client costs no
 * more than one piece of memory; a client that takes longer than `stallMs` for a piece is cut off. Returns at once, and
 * takes over the response.
 */
export function sendLong(
  reply: FastifyReply,
  code: number,
  body: LongBody,
  { stallMs = maxStallMs }: { stallMs?: number } = {},
): void {
  reply.hijack();
  const response = reply.raw;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(code, { 'content-length': body.length });
  response.flushHeaders(); // sent together with the first piece they would cost a copy of it
  const stalled = setTimeout(() => response.destroy(), stallMs);
  const closed = Promise.withResolvers<boolean>();
  response.once('close', () => {
    clearTimeout(stalled);
    closed.resolve(false);
  });
  sendPieces(response, body.pieces(), closed.promise, () => stalled.refresh()).catch(() =>
    response.destroy(),
  );
}

async function sendPieces(
  response: ServerResponse,
  pieces: Iterable<Buffer>,
  closed: Promise<boolean>,
  onProgress: () => void,
): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed || !(await Promise.race([writePiece(response, piece), closed]))) return;
    onProgress();
  }
  response.end();
}

/** Resolves with whether the piece could be written, once its bytes are no longer needed. */
function writePiece(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    response.write(bytes, (error) => resolve(error === undefined || error === null));
  });
}
