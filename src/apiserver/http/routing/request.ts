import type { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { StatusError } from '../../../api/index.ts';

/** The path of a request as it was sent, without parameters. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/**
 * The path as the router reads it: decoded, and without the server's name that may precede it (RFC 9112, 3.2.2).
 * Authorization uses this form; else a caller could spell a path so that another one is authorized than is served.
 */
export function routedPathOf(request: FastifyRequest): string {
  const path = pathOf(request).replace(/^https?:\/\/[^/]*\//, '/');
  try {
    return path.includes('%') ? decodeURIComponent(path) : path;
  } catch {
    return path; // the router refuses it
  }
}

/**
 * The Authorization header. Throws 400 when there are several: the parser takes the first, and a proxy in front of the
 * server may have checked another.
 */
export function authorizationOf({ headers: { authorization }, raw }: FastifyRequest): string | undefined {
  if (authorization === undefined) return undefined;
  const names = raw.rawHeaders.filter((text, at) => at % 2 === 0 && /^authorization$/i.test(text));
  if (names.length <= 1) return authorization;
  throw new StatusError('BadRequest', 'the header authorization was sent more than once');
}

const noParameters = new URLSearchParams();

/** The query parameters. Read-only: all requests without any share one object. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?');
  return at < 0 ? noParameters : new URLSearchParams(request.url.slice(at + 1));
}

/** The connection of a request; this server speaks TLS only. */
export function socketOf(request: FastifyRequest): TLSSocket {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) return socket;
  throw new Error('a request came over a connection that is not TLS');
}

/** Creates a signal that aborts when the response is complete or the client has gone. */
export function createCloseSignal(raw: ServerResponse): AbortSignal {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  if (raw.destroyed) closed.abort(); // the client closed the connection before the listener was added
  return closed.signal;
}
