import type { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';

/** The path of a request as it was sent, without parameters. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/** The parameters behind the path. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : request.url.slice(at + 1));
}

/** The connection of a request; this server speaks TLS only. */
export function socketOf(request: FastifyRequest): TLSSocket {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) return socket;
  throw new Error('a request came over a connection that is not TLS');
}

/** Aborts when the answer is out or can no longer be taken: the client is gone. */
export function closeSignal(raw: ServerResponse): AbortSignal {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  if (raw.destroyed) closed.abort(); // the client went before anybody listened
  return closed.signal;
}
