import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session, ServerOptions } from 'node:http2';
import { constants, createServer } from 'node:http2';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';

/*
 * HTTP/2 beside HTTP/1.1 on one port. The HTTPS server stays what it is, with all its limits; only connections whose
 * client has chosen `h2` (ALPN, RFC 7301) are served by sessions here, and their requests are handed to the very same
 * handlers. Those know nothing of it: what they look at and the compatibility API of Node.js lacks is added below.
 */

/** What clients are offered, best first. */
export const alpnProtocols = ['h2', 'http/1.1'];

export interface Http2Options {
  /** A session without a request for so long is closed. */
  idleMs: number;
  /** A request must have come whole after so long. */
  requestTimeoutMs: number;
  /** Told of every session, with its connection. */
  onSession(socket: TLSSocket, session: ServerHttp2Session): void;
}

/**
 * The bounds of one connection; those that are not here are Node's own. A client that resets more streams than these
 * (CVE-2023-44487), or sends more frames that are wrong, loses its connection.
 */
const bounds: ServerOptions = {
  settings: {
    maxConcurrentStreams: 100, // as the reference, and what clients count on before they are told
    maxHeaderListSize: 32 * 1024,
    enablePush: false,
  },
  maxSessionMemory: 10, // megabytes
  maxHeaderListPairs: 128,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  streamResetBurst: 400,
  streamResetRate: 50, // a second
};

/** Serves HTTP/2 to the clients of a server that offers it; call it before the server listens. */
export function serveHttp2(server: Server, { idleMs, requestTimeoutMs, onSession }: Http2Options): void {
  const sockets = new WeakMap<object, TLSSocket>();
  const multiplexer = createServer(bounds, (request, response) => {
    const socket = request.stream.session && sockets.get(request.stream.session);
    if (socket === undefined) return; // closed meanwhile
    fillIn(request, response, socket);
    limitTime(request, requestTimeoutMs);
    server.emit('request', request, response);
  });
  multiplexer.on('sessionError', () => undefined); // its connection is closed, and nobody else has part in it
  const http1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') {
      for (const serve of http1) Reflect.apply(serve, server, [socket]);
      return;
    }
    multiplexer.once('session', (session) => {
      sockets.set(session, socket);
      closeWhenIdle(session, idleMs);
      onSession(socket, session);
    });
    multiplexer.emit('connection', socket); // makes the session at once
  });
}

/** What a request and its response have under HTTP/1.1. */
function fillIn(request: Http2ServerRequest, response: Http2ServerResponse, socket: TLSSocket): void {
  const { stream, headers } = request;
  Object.defineProperty(request, 'socket', { value: socket }); // one object for all requests of a connection
  Object.defineProperty(response, 'destroyed', { get: () => stream.destroyed });
  // under HTTP/1.1 a body is announced by its length or its framing; here nothing says that there is one
  const saysNothing = headers['content-type'] === undefined && headers['content-length'] === undefined;
  if (saysNothing && !stream.endAfterHeaders) headers['content-type'] = 'application/json';
}

function limitTime(request: Http2ServerRequest, limitMs: number): void {
  const { stream } = request;
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), limitMs);
  const whole = () => clearTimeout(timer);
  request.once('end', whole);
  stream.once('close', whole);
}

/** The timer runs anew with every frame. */
function closeWhenIdle(session: ServerHttp2Session, idleMs: number): void {
  let requests = 0;
  session.on('stream', (stream) => {
    requests++;
    stream.once('close', () => {
      requests--;
    });
  });
  session.setTimeout(idleMs, () => {
    if (requests === 0) session.close();
  });
}
