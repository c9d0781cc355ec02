import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session, ServerOptions } from 'node:http2';
import { constants, createServer } from 'node:http2';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';

/*
 * HTTP/2 beside HTTP/1.1 on one port. The HTTPS server stays as it is, with all its limits; only connections whose client
 * has chosen `h2` (ALPN, RFC 7301) become sessions here, and their requests go to the same handlers. What the handlers
 * use and Node's compatibility API lacks is added below.
 */

/**
 * Chooses among the protocols that a client offers; undefined: none will do. Where HTTP/2 is `preferred` it is taken from each
 * client that can; otherwise only from one that offers nothing else, since for a client with a single request at a time a
 * session costs more than a connection.
 */
export function chooseProtocol(offered: readonly string[], preferred: boolean): string | undefined {
  const order = preferred ? ['h2', 'http/1.1'] : ['http/1.1', 'h2'];
  return order.find((protocol) => offered.includes(protocol));
}

export interface Http2Options {
  /** How long a session may be without a request before it is closed. */
  idleMs: number;
  /** How long it may take from the head of a request to the end of its body. */
  requestMs: number;
  /** The content type of a body whose request names none. */
  defaultContentType: string;
  /** Called with every session and its connection. */
  onSession(socket: TLSSocket, session: ServerHttp2Session): void;
}

/**
 * The limits of one connection; all others are Node's defaults. A client that resets more streams (CVE-2023-44487), or
 * sends more invalid frames, loses its connection.
 */
const bounds: ServerOptions = {
  settings: {
    maxConcurrentStreams: 100, // what clients assume until the server's settings reach them
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
export function serveHttp2(server: Server, options: Http2Options): void {
  const { idleMs, requestMs, defaultContentType, onSession } = options;
  const sockets = new WeakMap<object, TLSSocket>();
  const multiplexer = createServer(bounds, (request, response) => {
    const socket = request.stream.session && sockets.get(request.stream.session);
    if (socket === undefined) return; // closed meanwhile
    addHttp1Properties(request, response, socket, defaultContentType);
    limitTime(request, requestMs);
    server.emit('request', request, response);
  });
  multiplexer.on('sessionError', () => undefined); // Node closes the connection, and no other is affected
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
    multiplexer.emit('connection', socket); // creates the session at once
  });
}

/** Adds the properties that a request and its response have under HTTP/1.1. */
function addHttp1Properties(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  socket: TLSSocket,
  defaultContentType: string,
): void {
  const { stream, headers } = request;
  Object.defineProperty(request, 'socket', { value: socket }); // one object for all requests of a connection
  Object.defineProperty(response, 'destroyed', { get: () => stream.destroyed });
  // the framework reads no body without such a header; HTTP/1.1 always has one, HTTP/2 need not
  const isAnnounced = headers['content-type'] !== undefined || headers['content-length'] !== undefined;
  if (!isAnnounced && !stream.endAfterHeaders) headers['content-type'] = defaultContentType;
}

function limitTime(request: Http2ServerRequest, limitMs: number): void {
  const { stream } = request;
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), limitMs);
  const stop = () => clearTimeout(timer);
  request.once('end', stop);
  stream.once('close', stop);
}

/** Every frame restarts the timer. */
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
