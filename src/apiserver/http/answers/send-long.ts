import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { LongBody } from './list-body.ts';

/** A client that takes longer for a piece gets no more. */
const maxStallMs = 60_000;

/**
 * Sends an answer with the headers of `reply`, piece by piece as the client takes them, so that one who reads slowly
 * costs a piece of memory and no more; one who takes longer than `stallMs` for a piece is cut off. Returns at once: the
 * response is this function's from here on.
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
  response.flushHeaders(); // together with a piece they would make another copy of it
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
  moved: () => void,
): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed || !(await Promise.race([written(response, piece), closed]))) return;
    moved();
  }
  response.end();
}

/** Whether it could be written; known when nothing needs the bytes any more. */
function written(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    response.write(bytes, (error) => resolve(error === undefined || error === null));
  });
}
