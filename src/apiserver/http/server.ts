import type { FastifyRequest } from 'fastify';
import type { HttpsApp, HttpsLimits, HttpsServerOptions, ListenAddress } from '../../base/https/index.ts';
import { HttpsServer } from '../../base/https/index.ts';
import { SharedReads } from '../handlers/index.ts';
import { pathNotFound } from './admission/admit.ts';
import { addAudit } from './admission/audit.ts';
import { refuse } from './admission/refuse.ts';
import { addDocuments } from './documents.ts';
import { bodyLimitBytes, renderClientError, sendError } from './errors.ts';
import { createInFlightLimiter } from './flow/in-flight.ts';
import { addIntercept, measureDuration, refuseFragments, refuseWhenClosing, signalStop } from './hooks.ts';
import { mediaTypes } from './negotiation/media-types.ts';
import { patchTypes } from './negotiation/patch-body.ts';
import { addNodeProxy } from './node-proxy.ts';
import type { HttpOptions } from './options.ts';
import { podLog } from './pods/log.ts';
import { addPodPath } from './pods/path.ts';
import { podProxy } from './pods/proxy.ts';
import { isStreamPath, podStreams } from './pods/streams.ts';
import { RequestCounts } from './request-counts.ts';
import { createResourceHandler } from './resource-handler.ts';
import { methodNotAllowed, routedMethods } from './routing/methods.ts';
import { listRoutes } from './routing/routes.ts';
import { createEventEncodings } from './watch/event-encodings.ts';
import { maxWatches, WatchSlots } from './watch/watch-slots.ts';

const limits: Partial<HttpsLimits> = {
  /** Far more than the default number of file descriptors: a bound against a flood, not a limit for a fleet. */
  maxConnections: 20_000,
  /** Some 60 MiB. A client needs a fraction of a second to authenticate; those of a fleet that all come at once try again. */
  maxUnauthenticated: 500,
  handshakeIdleMs: 10_000,
  handshakeMs: 20_000,
  headMs: 20_000,
  requestMs: 60_000,
  maxBodyBytes: bodyLimitBytes,
  /** Names of some kinds have no limit of their own; the head of a request is limited to 16 KiB anyway. */
  maxParameterLength: 16_384,
};

/** The API over HTTPS. */
export class HttpServer {
  readonly #server: HttpsServer;

  constructor(options: HttpOptions) {
    this.#server = new HttpsServer(serverOptions(options));
    const { app } = this.#server;
    // hooks run in the order in which they are added
    refuseWhenClosing(app);
    addIntercept(app, options);
    if (options.audit !== undefined) addAudit(app, options.audit, options.clock);
    refuseFragments(app, options);
    const streams = new WeakSet<FastifyRequest>();
    measureDuration(app, options.metrics, streams);
    addRoutes(app, options, streams);
  }

  /** Resolves with the port; rejects with an ExitError that tells the operator what to do. */
  async listen(address: ListenAddress): Promise<number> {
    return await this.#server.listen(address);
  }

  /**
   * Serves new connections with another certificate. When a client CA is no longer trusted, all connections are cut,
   * because it may have signed the certificates of their clients.
   */
  renew(tls: HttpOptions['tls']): void {
    this.#server.setCredentials(tls);
  }

  /** Stops listening at once, lets running requests finish for `graceMs`, then cuts what is left. */
  async close(graceMs: number): Promise<void> {
    await this.#server.close(graceMs);
  }
}

function serverOptions(options: HttpOptions): HttpsServerOptions {
  const { tls, http2, log } = options;
  return {
    credentials: tls,
    limits,
    ignoreTrailingSlash: true,
    http2: { defaultContentType: 'application/json', isPreferred: http2 },
    upgrades: isStreamPath,
    contentTypes: [...mediaTypes.keys(), ...patchTypes.keys()],
    onError: (error, request, reply) => sendError(error, request, reply, log),
    onBadPath: (bad, request, reply) =>
      refuse(request, options, () => bad).catch((error: unknown) => sendError(error, request, reply, log)),
    formatClientError: renderClientError,
  };
}

function addRoutes(app: HttpsApp, options: HttpOptions, streams: WeakSet<FastifyRequest>): void {
  const counts = new RequestCounts(options.metrics);
  addDocuments(app, options, counts);
  const { nodeProxy, podProxy: podProxies } = options;
  const stopping = signalStop(app);
  addNodeProxy(app, nodeProxy, options, { streams, counts, stopping });
  const ofPods = [podLog(nodeProxy), ...podStreams(nodeProxy, stopping), podProxy(podProxies, stopping)];
  for (const path of ofPods) addPodPath(app, options, { streams, counts }, path);
  const shared = {
    options,
    streams,
    encodings: createEventEncodings(options.clock),
    reads: new SharedReads(),
    watchSlots: new WatchSlots(maxWatches, options.metrics),
    enter: createInFlightLimiter({ ...options, limits: options.inFlight }),
  };
  for (const route of listRoutes(options.registry)) {
    const count = counts.ofRoute(route);
    app.route({
      method: routedMethods,
      url: route.pattern,
      ...createResourceHandler(route, { ...shared, count }),
      onResponse(request, reply, done) {
        if (!streams.has(request)) count.answered(request, reply);
        done();
      },
    });
  }
  const countUnserved = counts.of({});
  app.setNotFoundHandler((request, reply) => {
    reply.raw.once('close', () => countUnserved(request, reply));
    return refuse(request, options, () =>
      routedMethods.includes(request.method) ? pathNotFound() : methodNotAllowed(reply, servedSomewhere),
    );
  });
}

const servedSomewhere = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
