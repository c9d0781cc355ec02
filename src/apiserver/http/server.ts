import type { FastifyRequest } from 'fastify';
import type { HttpsApp, HttpsLimits, HttpsServerOptions, ListenAddress } from '../../base/https/index.ts';
import { HttpsServer } from '../../base/https/index.ts';
import { SharedReads } from '../handlers/index.ts';
import { authenticate, authorizePath } from './admission/access.ts';
import { pathNotFound } from './admission/admit.ts';
import { addAudit } from './admission/audit.ts';
import { addDocuments } from './documents.ts';
import { bodyLimitBytes, clientErrorBody, sendError } from './errors.ts';
import { inFlightLimiter } from './flow/in-flight.ts';
import { addIntercept, measureDuration, refuseFragments, refuseWhenClosing } from './hooks.ts';
import { mediaTypes } from './negotiation/media-types.ts';
import { patchTypes } from './negotiation/patch-body.ts';
import { addNodeProxy } from './node-proxy.ts';
import type { HttpOptions } from './options.ts';
import { resourceHandler } from './resource-handler.ts';
import { methodNotAllowed, routedMethods } from './routing/methods.ts';
import { routesOf } from './routing/routes.ts';
import { eventEncodings } from './watch/event-encodings.ts';
import { maxWatches, WatchSeats } from './watch/watch-seats.ts';

const limits: Partial<HttpsLimits> = {
  /** Far more than there are descriptors by default: a bound against a flood, not a limit for a fleet. */
  maxConnections: 20_000,
  handshakeIdleMs: 10_000,
  headMs: 20_000,
  requestMs: 60_000,
  maxBodyBytes: bodyLimitBytes,
  /** The names of some kinds have no limit of their own; a request's head is limited anyway (16 KiB). */
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
    refuseFragments(app);
    addIntercept(app, options);
    if (options.audit !== undefined) addAudit(app, options.audit, options.clock);
    const streams = new WeakSet<FastifyRequest>();
    measureDuration(app, options.metrics, streams);
    addRoutes(app, options, streams);
  }

  /** Resolves with the port; rejects with an ExitError that says what to do. */
  async listen(address: ListenAddress): Promise<number> {
    return await this.#server.listen(address);
  }

  /**
   * Serves new connections with another certificate. When an authority of clients is no longer trusted, all connections
   * are cut, because it may have vouched for their clients.
   */
  renew(tls: HttpOptions['tls']): void {
    this.#server.setCredentials(tls);
  }

  /** Stops listening at once, lets running requests finish for `graceMs`, then cuts what is left. */
  async close(graceMs: number): Promise<void> {
    await this.#server.close(graceMs);
  }
}

function serverOptions({ tls, http2, log }: HttpOptions): HttpsServerOptions {
  return {
    credentials: tls,
    limits,
    ...(http2 && { http2: { defaultContentType: 'application/json' } }),
    contentTypes: [...mediaTypes.keys(), ...patchTypes.keys()],
    onError: (error, request, reply) => sendError(error, request, reply, log),
    formatClientError: clientErrorBody,
  };
}

function addRoutes(app: HttpsApp, options: HttpOptions, streams: WeakSet<FastifyRequest>): void {
  addDocuments(app, options);
  addNodeProxy(app, options.nodeProxy, options, streams);
  const shared = {
    options,
    streams,
    encodings: eventEncodings(options.clock),
    reads: new SharedReads(),
    seats: new WatchSeats(maxWatches, options.metrics),
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
}

const servedSomewhere = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
