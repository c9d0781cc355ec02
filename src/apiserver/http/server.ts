import type { FastifyRequest } from 'fastify';
import fastify from 'fastify';
import { StatusError } from '../../api/index.ts';
import type { MetricsRegistry } from '../../base/index.ts';
import { Histogram } from '../../base/index.ts';
import { SharedReads } from '../handlers/index.ts';
import { authenticate, authorizePath } from './admission/access.ts';
import { pathNotFound } from './admission/admit.ts';
import { addAudit } from './admission/audit.ts';
import { answerClientError } from './client-error.ts';
import { trackConnections } from './connections.ts';
import { addDocuments } from './documents.ts';
import { bodyLimitBytes, sendError } from './errors.ts';
import { inFlightLimiter } from './flow/in-flight.ts';
import { alpnProtocols, serveHttp2 } from './http2.ts';
import { mediaTypes } from './negotiation/media-types.ts';
import { patchTypes } from './negotiation/patch-body.ts';
import { addNodeProxy } from './node-proxy.ts';
import type { HttpOptions } from './options.ts';
import { resourceHandler } from './resource-handler.ts';
import type { App } from './routing/app.ts';
import { methodNotAllowed, routedMethods } from './routing/methods.ts';
import { routesOf } from './routing/routes.ts';
import { eventEncodings } from './watch/event-encodings.ts';
import { mostWatches, WatchSeats } from './watch/watch-seats.ts';

/** Longer than Go clients keep an idle connection (90 s), so that theirs is the end that closes. */
const keepAliveMs = 120_000;
const handshakeTimeoutMs = 10_000;
const headersTimeoutMs = 20_000;
const requestTimeoutMs = 60_000;
/** The names of some kinds have no limit of their own; what a request's head can hold is bounded anyway (16 KiB). */
const longestParameter = 16_384;

/** Far more than there are descriptors by default: a bound against a flood, not a limit for a fleet. */
const mostConnections = 20_000;

/** The API over HTTPS. */
export interface HttpServer {
  /** The port; 0 lets the system choose. Rejects with the system's error. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Shows new connections another certificate. Where an authority of clients is trusted no longer all connections are
   * cut: what it has let in is not known any more.
   */
  renew(tls: HttpOptions['tls']): void;
  /** Stops listening at once, lets running requests finish for a bounded time, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** Listens only when told to. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const app = createApp(options);
  const connections = trackConnections(app.server);
  let trusted = options.tls.clientCa;
  if (options.http2) {
    const onSession = connections.multiplexed;
    serveHttp2(app.server, { idleMs: keepAliveMs, requestTimeoutMs, onSession });
  }
  return {
    async listen(host, port) {
      await app.listen({ host, port });
      const address = app.server.address();
      if (typeof address === 'object' && address !== null) return address.port;
      throw new Error('the server listens on no port');
    },
    renew(tls) {
      app.server.setSecureContext(tlsSettings(tls));
      if (!trustsAll(tls.clientCa, trusted)) connections.cut();
      trusted = tls.clientCa;
    },
    async close(graceMs) {
      const cut = setTimeout(() => connections.cut(), graceMs);
      try {
        const closed = app.close();
        connections.drain();
        await closed;
      } finally {
        clearTimeout(cut);
      }
    },
  };
}

/** Whether every authority of `before` is one of `now`. */
function trustsAll(now: string, before: string): boolean {
  const authorities = new Set(certificatesIn(now));
  return certificatesIn(before).every((each) => authorities.has(each));
}

function certificatesIn(pem: string): string[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+/g) ?? []).map((each) => each.replaceAll(/\s/g, ''));
}

function tlsSettings(tls: HttpOptions['tls']) {
  return { key: tls.key, cert: tls.cert, ca: tls.clientCa, minVersion: 'TLSv1.2' } as const;
}

function createApp(options: HttpOptions): App {
  const { log, tls } = options;
  const app = fastify({
    https: {
      ...tlsSettings(tls),
      ...(options.http2 ? { ALPNProtocols: alpnProtocols } : {}),
      requestCert: true,
      rejectUnauthorized: false, // without a certificate some paths are open; what a certificate is worth is looked at per request
      headersTimeout: headersTimeoutMs,
      handshakeTimeout: handshakeTimeoutMs,
    },
    bodyLimit: bodyLimitBytes,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    routerOptions: { maxParamLength: longestParameter },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    exposeHeadRoutes: false,
    logger: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // told by a Status instead, below
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, log),
  });
  app.server.maxConnections = mostConnections;
  app.removeAllContentTypeParsers();
  // those that are named are found without being taken apart
  app.addContentTypeParser(
    ['*', ...mediaTypes.keys(), ...patchTypes.keys()],
    { parseAs: 'buffer' },
    (_request, body, done) => done(null, body),
  );
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, log));
  refuseWhenClosing(app);
  refuseFragments(app);
  if (options.http2) leaveOutConnection(app);
  addIntercept(app, options);
  if (options.audit !== undefined) addAudit(app, options.audit, options.clock);
  const streams = new WeakSet<FastifyRequest>();
  observe(app, options.metrics, streams);
  addDocuments(app, options);
  addNodeProxy(app, options.nodeProxy, options, streams);
  const shared = {
    options,
    streams,
    encodings: eventEncodings(options.clock),
    reads: new SharedReads(),
    seats: new WatchSeats(mostWatches, options.metrics),
    enter: inFlightLimiter({ ...options, limits: options.inFlight }),
  };
  for (const route of routesOf(options.registry)) {
    app.route({ method: routedMethods, url: route.pattern, ...resourceHandler(route, shared) });
  }
  app.setNotFoundHandler(async (request, reply) => {
    const identity = await authenticate(request, options);
    await authorizePath(request, identity, options.authorizer);
    throw routedMethods.includes(request.method) ? pathNotFound() : methodNotAllowed(reply, servedSomewhere);
  });
  return app;
}

/** Stands in for the framework's compilers of schemas, which it would load otherwise: half of its code. */
function noSchemas(): never {
  throw new Error('a route has a schema: bodies are read and checked by the descriptions of the kinds');
}

const servedSomewhere = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

type Hooks = Pick<App, 'addHook'>;

/** On a connection that is still open, requests come even when the server has begun to stop. */
function refuseWhenClosing(app: Hooks): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', (_request, _reply, done) => {
    if (!closing) done();
    else done(isStopping());
  });
}

function isStopping(): StatusError {
  return new StatusError('ServiceUnavailable', 'the server is stopping', {
    details: { retryAfterSeconds: 1 },
  });
}

/** A fragment never leaves a client; the router would leave it out, but not everybody who looks at the path. */
function refuseFragments(app: Hooks): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.url.includes('#')) done();
    else done(new StatusError('BadRequest', 'the path is not valid'));
  });
}

/** HTTP/2 knows no such header (RFC 9113, 8.2.2), but the framework sets it when it gives up reading a body. */
function leaveOutConnection(app: Hooks): void {
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.httpVersionMajor === 2) reply.removeHeader('connection');
  });
}

function addIntercept(app: Hooks, { intercept }: HttpOptions): void {
  if (intercept !== undefined) app.addHook('onRequest', ({ raw }, reply) => intercept(raw, reply.raw));
}

function observe(app: Hooks, metrics: MetricsRegistry, streams: WeakSet<FastifyRequest>): void {
  const duration = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time to answer a request, without watches.',
    labelNames: ['method', 'code'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers: [metrics],
  });
  app.addHook('onResponse', (request, reply, done) => {
    const labels = { method: request.method, code: String(reply.statusCode) };
    if (!streams.has(request)) duration.observe(labels, reply.elapsedTime / 1000);
    done();
  });
}
