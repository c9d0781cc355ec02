import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import type { ClientErrorCode, ErrorBody } from './client-error.ts';
import { answerClientError } from './client-error.ts';
import { Connections } from './connections.ts';
import type { TlsCredentials, TlsSettings } from './credentials.ts';
import { secureContext, trustsAll } from './credentials.ts';
import { chooseProtocol, serveHttp2 } from './http2.ts';
import type { HttpsLimits } from './limits.ts';
import { defaultLimits } from './limits.ts';
import type { ListenAddress } from './listen.ts';
import { listenError } from './listen.ts';
import { serveUpgrades } from './upgrades.ts';

/** The router. Bodies are read whole, as buffers, whatever their content type. */
export type HttpsApp = FastifyInstance<Server, IncomingMessage, ServerResponse>;

type ErrorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => unknown;

export interface HttpsServerOptions {
  /** Default: none. Connections are then accepted, and no handshake succeeds until `setCredentials`. */
  readonly credentials?: TlsCredentials | undefined;
  /** Over the defaults that `HttpsLimits` names. */
  readonly limits?: Partial<HttpsLimits> | undefined;
  /** Whether one slash at the end of a path is as none, in a route as in a request. Default false. */
  readonly ignoreTrailingSlash?: boolean;
  /** Speaks HTTP/2 beside HTTP/1.1. Default: it does not. */
  readonly http2?: {
    /** The content type of a body whose request names none. */
    readonly defaultContentType: string;
    /** Whether with each client that can, or only with those that speak nothing else. */
    readonly isPreferred: boolean;
  };
  /** Whether on this path, without its query, a connection may go on with another protocol; see `upgradeOf`. Default: on none. */
  upgrades?(path: string): boolean;
  /** Content types that clients usually send: they are recognized without the header being parsed. */
  readonly contentTypes?: readonly string[];
  /** Answers when a hook or handler has thrown, or a body is too large. */
  readonly onError: ErrorHandler;
  /** Answers to a path that cannot be decoded; it has no route, and no hook runs. Default `onError`. */
  readonly onBadPath?: ErrorHandler;
  /** The body for what is no HTTP request. Default: the status in plain text. */
  readonly formatClientError?: (code: ClientErrorCode) => ErrorBody;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * An HTTPS server. Clients are asked for a certificate but need none: the handlers check whether a connection's was
 * verified, so that they can answer with a status instead of a failed handshake.
 */
export class HttpsServer {
  /** For routes and hooks, which must be added before it listens. */
  readonly app: HttpsApp;
  readonly #connections: Connections;
  #clientCa: string | undefined;

  constructor(options: HttpsServerOptions) {
    const limits = { ...defaultLimits, ...options.limits };
    this.#clientCa = options.credentials?.clientCa;
    this.app = createApp(options, limits);
    const { server } = this.app;
    server.maxConnections = limits.maxConnections;
    if (options.http2 !== undefined) {
      removeConnectionHeader(this.app);
      serveHttp2(server, {
        defaultContentType: options.http2.defaultContentType,
        ...limits,
        onSession: (socket, session) => this.#connections.addSession(socket, session),
      });
    }
    if (options.upgrades !== undefined) serveUpgrades(this.app);
    this.#connections = new Connections(server, limits, options.clock ?? systemClock);
  }

  /** The port on which it listens. */
  get port(): number {
    const address = this.app.server.address();
    if (typeof address === 'object' && address !== null) return address.port;
    throw new Error('the server listens on no port');
  }

  /** Resolves with the port; rejects with an ExitError that says what to do. */
  async listen(address: ListenAddress): Promise<number> {
    try {
      await this.app.listen({ host: address.address, port: address.port });
    } catch (error) {
      throw listenError(error, address);
    }
    return this.port;
  }

  /**
   * Serves new connections with these. All open connections are cut when an authority is no longer trusted: its clients
   * have to authenticate again.
   */
  setCredentials(credentials: TlsCredentials, settings?: TlsSettings): void {
    this.app.server.setSecureContext(secureContext(credentials, settings));
    const before = this.#clientCa;
    if (before !== undefined && !trustsAll(credentials.clientCa, before)) this.#connections.destroyAll();
    this.#clientCa = credentials.clientCa;
  }

  /** Stops listening and cuts idle connections at once; running requests have `graceMs` to finish. */
  async close(graceMs: number): Promise<void> {
    await this.#connections.drain(this.app.close(), graceMs);
  }
}

function createApp(options: HttpsServerOptions, limits: HttpsLimits): HttpsApp {
  const { onError, onBadPath = onError, contentTypes = [], ignoreTrailingSlash = false } = options;
  const app = fastify({
    https: serverOptions(options, limits),
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    routerOptions: { maxParamLength: limits.maxParameterLength, ignoreTrailingSlash },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // its format differs from ours: hooks refuse requests during the stop
    logger: false,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, options.formatClientError),
    frameworkErrors: (error, request, reply) => void onBadPath(error, request, reply),
  });
  app.setErrorHandler(onError);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['*', ...contentTypes], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  return app;
}

function serverOptions({ credentials, http2, upgrades }: HttpsServerOptions, limits: HttpsLimits) {
  const { tcpKeepAliveMs } = limits;
  return {
    // without any authority of its own a context would get all that Node.js knows, some 2 MB
    ...(credentials === undefined ? { minVersion: 'TLSv1.2' as const, ca: [] } : secureContext(credentials)),
    ...(http2 === undefined
      ? {}
      : {
          ALPNCallback: ({ protocols }: { protocols: string[] }) =>
            chooseProtocol(protocols, http2.isPreferred),
        }),
    ...(tcpKeepAliveMs === undefined ? {} : { keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs }),
    ...(upgrades === undefined
      ? {}
      : {
          shouldUpgradeCallback: ({ url = '' }: IncomingMessage) => upgrades(url.split('?', 1)[0] ?? ''),
        }),
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeIdleMs,
    maxHeaderSize: limits.maxHeadBytes,
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: limits.checkMs,
  };
}

/** Replaces the framework's schema compilers, half of its code, which it would load otherwise. */
function noSchemas(): never {
  throw new Error('a route has a schema, and this server compiles none');
}

/** HTTP/2 has no such header (RFC 9113, 8.2.2), but the framework sets it when it gives up reading a body. */
function removeConnectionHeader(app: Pick<HttpsApp, 'addHook'>): void {
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (raw.httpVersionMajor === 2) reply.removeHeader('connection');
    done(null, payload);
  });
}
