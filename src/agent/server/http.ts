import { METHODS } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import type { Clock, Logger, Registry } from '../../base/index.ts';
import type { Caller } from './access.ts';
import { authenticator, authorize, wantedOf } from './access.ts';
import type { CheckpointRouteOptions } from './checkpoint-route.ts';
import { checkpoint } from './checkpoint-route.ts';
import { answerClientError } from './client-error.ts';
import { RefusedError, sendFailure, sendText } from './refusal.ts';
import { tlsOptions } from './tls.ts';

/*
 * The way of a request: handshake → whole head → who → may they → body → route → method. Nobody learns from the agent
 * what it has before it is clear who asks. What is slow is cut off before that point and not after it: a checkpoint may
 * take as long as its own timeout says.
 */

export interface AgentHttpOptions extends CheckpointRouteOptions {
  /** The gate ContainerCheckpoint. */
  checkpointEnabled: boolean;
  /** Whether whoever has a certificate of the authority may do everything, now; else only `system:masters`. */
  anyCertificate(): boolean;
  /** What `/configz` answers, as JSON; without secrets. */
  configz(query: URLSearchParams): unknown;
  metrics: Registry;
  clock: Clock;
  log: Logger;
}

const headersTimeoutMs = 10_000;
/** For receiving a request, not for answering it. */
const requestTimeoutMs = 30_000;
const checkTimeoutsMs = 2000;
/** Go's clients drop idle connections after 90 s; it must not be the server that is first. */
const keepAliveMs = 120_000;
/** A client whose machine has gone is noticed, and its checkpoint cancelled, by TCP. */
const tcpKeepAliveMs = 15_000;
const headLimitBytes = 16 * 1024;
const bodyLimitBytes = 1024;
const longestParameter = 512;
const mostConnections = 1000;

/** The agent's API over HTTPS; it listens only when told to, and has no certificate yet. */
export function createAgentHttp(options: AgentHttpOptions) {
  const { log, clock, stopping } = options;
  const authenticate = authenticator(() => clock.now());
  const callers = new WeakMap<FastifyRequest, Caller>();

  function admit(request: FastifyRequest): void {
    if (stopping.aborted) throw new RefusedError(503, 'the agent is being stopped');
    const caller = authenticate(socketOf(request));
    authorize(caller, wantedOf(request.method, request.url), options.anyCertificate());
    callers.set(request, caller);
  }

  const app = fastify({
    https: {
      ...tlsOptions,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveMs,
      maxHeaderSize: headLimitBytes,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkTimeoutsMs,
    },
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    routerOptions: { maxParamLength: longestParameter },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // admit() says it in plain text
    logger: false,
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
    frameworkErrors: (error, request, reply) =>
      void sendFailure(admissionFailure(request) ?? error, reply, log),
  });

  /** A path that cannot be read comes past the hooks. */
  function admissionFailure(request: FastifyRequest): unknown {
    try {
      admit(request);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  app.server.maxConnections = mostConnections;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', async (request) => admit(request));
  app.setErrorHandler((error, _request, reply) => sendFailure(error, reply, log));
  app.setNotFoundHandler(() => {
    throw new RefusedError(404, '404 page not found');
  });
  addRoutes(app, options, (request) => callers.get(request) ?? authenticate(socketOf(request)));
  return app;
}

export type AgentHttp = ReturnType<typeof createAgentHttp>;

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | FastifyReply;

function addRoutes(
  app: Pick<FastifyInstance, 'all' | 'route' | 'supportedMethods' | 'addHttpMethod'>,
  options: AgentHttpOptions,
  callerOf: (request: FastifyRequest) => Caller,
): void {
  const unknown = METHODS.filter((method) => method !== 'CONNECT' && !app.supportedMethods.includes(method));
  for (const method of unknown) app.addHttpMethod(method);
  const serve = (url: string, method: string, answer: Answer) => {
    app.route({
      method: app.supportedMethods,
      url,
      async handler(request, reply) {
        if (request.method === method) return await answer(request, reply);
        reply.header('allow', method);
        throw new RefusedError(405, `Method Not Allowed: only ${method} is served here`);
      },
    });
  };
  const checkpointPath = '/checkpoint/:namespace/:pod/:container';
  if (options.checkpointEnabled) {
    serve(checkpointPath, 'POST', (request, reply) => checkpoint(request, reply, callerOf(request), options));
  } else {
    app.all(checkpointPath, () => {
      throw new RefusedError(404, 'the feature gate ContainerCheckpoint is off');
    });
  }
  serve('/healthz', 'GET', (_request, reply) => sendText(reply, 200, 'ok'));
  serve('/configz', 'GET', (request, reply) =>
    reply
      .header('content-type', 'application/json')
      .send(`${JSON.stringify(options.configz(queryOf(request)))}\n`),
  );
  serve('/metrics', 'GET', async (_request, reply) =>
    reply.header('content-type', options.metrics.contentType).send(await options.metrics.metrics()),
  );
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}

function socketOf(request: FastifyRequest): TLSSocket {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) return socket;
  throw new Error('a request came over a connection that is not TLS');
}
