import type { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { StatusError } from '../../../api/index.ts';

/** The path of a request as it was sent, without parameters. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/**
 * The path as the router reads it: without the server's name that may stand before it (RFC 9112, 3.2.2), and decoded. What
 * may be done with a path is decided by this, or whoever writes it otherwise would be judged by another path than they get.
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
 * The credential in the head. Throws 400 where there are several: the parser takes the first, and somebody in between may
 * have looked at another.
 */
export function authorizationOf({ headers: { authorization }, raw }: FastifyRequest): string | undefined {
  if (authorization === undefined) return undefined;
  const names = raw.rawHeaders.filter((text, at) => at % 2 === 0 && /^authorization$/i.test(text));
  if (names.length <= 1) return authorization;
  throw new StatusError('BadRequest', 'the header authorization was sent more than once');
}

const noParameters = new URLSearchParams();

/** The parameters behind the path, to be read only: all requests without any share them. */
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

/** Aborts when the answer is out or can no longer be taken: the client is gone. */
export function closeSignal(raw: ServerResponse): AbortSignal {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  if (raw.destroyed) closed.abort(); // the client went before anybody listened
  return closed.signal;
}
