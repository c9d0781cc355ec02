import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import type { Clock, Logger } from '../../base/index.ts';
import type { Access, Caller } from './access/index.ts';
import { createAdmission } from './admission.ts';
import { answerClientError } from './client-error.ts';
import { createLifetimes } from './lifetimes.ts';
import type { ServerLimits } from './limits.ts';
import { RefusedError, sendFailure } from './refusal.ts';
import { requesterOf } from './requester.ts';
import type { AgentRequest, AgentRoute } from './route.ts';
import { answerOf } from './route.ts';
import { tlsOptions } from './tls.ts';

/*
 * The way of a request: handshake → whole head → route → who → may they → body → method. Nobody learns from the agent
 * what it has before it is clear who asks. What is slow is cut off before that point and not after it: a checkpoint may
 * take as long as its own timeout says.
 */

export interface AgentHttpOptions {
  routes: readonly AgentRoute[];
  access: Access;
  limits: ServerLimits;
  /** Aborts when the agent stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Logger;
}

/** A client whose machine has gone is noticed, and its checkpoint cancelled, by TCP. */
const tcpKeepAliveMs = 15_000;

/** What is known of a request from its head on. */
interface Admitted {
  caller: Caller;
  signal: AbortSignal;
}

/** The agent's API over HTTPS; it listens only when told to, and has no certificate yet. */
export function createAgentHttp(options: AgentHttpOptions) {
  const { log, routes, stopping, limits } = options;
  const admission = createAdmission(options.access, routes);
  const lifetimes = createLifetimes(stopping);
  const admitted = new WeakMap<FastifyRequest, Admitted>();

  async function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    route: AgentRoute | undefined,
  ): Promise<Admitted> {
    if (stopping.aborted) throw stopped();
    const signal = lifetimes.begin(request.raw.socket, reply.raw);
    if (signal.aborted) throw gone();
    const caller = await admission.admit(request, route);
    if (signal.aborted) throw stopping.aborted ? stopped() : gone();
    return { caller, signal };
  }

  const app = fastify({
    https: {
      ...tlsOptions,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveMs,
      handshakeTimeout: limits.handshakeMs,
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    routerOptions: { maxParamLength: limits.parameterLength },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // admit() says it in plain text
    logger: false,
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
    // a path that cannot be read comes past the hooks
    frameworkErrors: (error, request, reply) =>
      void admit(request, reply, undefined).then(
        () => sendFailure(error, reply, log),
        (refused: unknown) => sendFailure(refused, reply, log),
      ),
  });

  app.server.maxConnections = limits.connections;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, _request, reply) => sendFailure(error, reply, log));
  const byPattern = new Map(routes.map((route) => [route.path, route]));
  app.addHook('onRequest', async (request, reply) => {
    admitted.set(request, await admit(request, reply, byPattern.get(request.routeOptions.url ?? '')));
  });
  app.setNotFoundHandler(() => {
    throw new RefusedError(404, '404 page not found');
  });
  addRoutes(app, options, (request) => {
    const known = admitted.get(request);
    if (known === undefined) throw new Error('a request was answered that had not been let in');
    return known;
  });
  return app;
}

const stopped = () => new RefusedError(503, 'the agent is being stopped');
/** Nobody reads this: whoever goes away while it is found out who he is wants nothing any more. */
const gone = () => new RefusedError(503, 'the client went away');

export type AgentHttp = ReturnType<typeof createAgentHttp>;

function addRoutes(
  app: Pick<FastifyInstance, 'route' | 'supportedMethods' | 'addHttpMethod'>,
  { routes, stopping }: AgentHttpOptions,
  admittedAs: (request: FastifyRequest) => Admitted,
): void {
  const unknown = METHODS.filter((method) => method !== 'CONNECT' && !app.supportedMethods.includes(method));
  for (const method of unknown) app.addHttpMethod(method);
  for (const route of routes) {
    app.route({
      method: app.supportedMethods,
      url: route.path,
      async handler(raw, reply) {
        if (route.off !== undefined) throw new RefusedError(404, route.off);
        const answer = answerOf(raw.method, route);
        if (answer === undefined) {
          const allowed = Object.keys(route.methods).join(', ');
          reply.header('allow', allowed);
          throw new RefusedError(405, `Method Not Allowed: only ${allowed} is served here`);
        }
        const { caller, signal } = admittedAs(raw);
        const request: AgentRequest = {
          params: paramsOf(raw),
          query: queryOf(raw.url),
          caller,
          requester: requesterOf(caller, raw.headers),
          signal,
          stopping,
          raw,
          reply,
        };
        return await answer(request);
      },
    });
  }
}

function paramsOf({ params }: FastifyRequest): Record<string, string> {
  const entries: [string, unknown][] =
    typeof params === 'object' && params !== null ? Object.entries(params) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}
