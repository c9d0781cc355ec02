import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpsLimits } from '../../base/https/index.ts';
import { HttpsServer } from '../../base/https/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { Access, Caller } from './access/index.ts';
import { admit, requesterOf } from './admission.ts';
import { Lifetimes } from './lifetimes.ts';
import { RefusedError, sendFailure } from './refusal.ts';
import type { AgentRequest, AgentRoute } from './route.ts';
import { answerOf, firstSegment } from './route.ts';

/*
 * A request goes through: handshake → whole head → route → authentication → authorization → body → method. Nothing about
 * the agent is disclosed before the caller is known. Slow clients are cut off before that point and not after it: a
 * checkpoint may take as long as its own timeout.
 */

export interface AgentHttpOptions {
  routes: readonly AgentRoute[];
  access: Access;
  limits: Partial<HttpsLimits>;
  /** Aborts when the agent stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Logger;
}

/** The data of a request that has been admitted by its head. */
interface Admitted {
  caller: Caller;
  signal: AbortSignal;
}

/** The agent's API over HTTPS. Its server has no certificate yet. */
export class AgentHttp {
  readonly server: HttpsServer;
  readonly #options: AgentHttpOptions;
  readonly #lifetimes: Lifetimes;
  readonly #admitted = new WeakMap<FastifyRequest, Admitted>();

  constructor(options: AgentHttpOptions) {
    const { limits, clock, log, routes } = options;
    const upgrading = new Set(routes.flatMap(({ path, upgrades }) => (upgrades ? [firstSegment(path)] : [])));
    this.#options = options;
    this.#lifetimes = new Lifetimes(options.stopping);
    this.server = new HttpsServer({
      limits,
      clock,
      upgrades: (path) => upgrading.has(firstSegment(path)),
      onError: (error, _request, reply) => sendFailure(error, reply, log),
      // no hook runs for a path that cannot be decoded, but only admitted callers may learn that
      onBadPath: (error, request, reply) =>
        this.#admit(request, reply, undefined).then(
          () => sendFailure(error, reply, log),
          (refused: unknown) => sendFailure(refused, reply, log),
        ),
    });
    this.#addRoutes();
  }

  #addRoutes(): void {
    const { app } = this.server;
    const { routes } = this.#options;
    const byPattern = new Map(routes.map((route) => [route.path, route]));
    app.addHook('onRequest', async (request, reply) => {
      const route = byPattern.get(request.routeOptions.url ?? '') ?? findRoute(routes, request);
      this.#admitted.set(request, await this.#admit(request, reply, route));
    });
    app.setNotFoundHandler(async (request, reply) => {
      const route = findRoute(routes, request);
      if (route === undefined) throw new RefusedError(404, '404 page not found');
      return await this.#answer(route, request, reply);
    });
    for (const route of routes) {
      app.route({
        method: [...routedMethods],
        url: route.path,
        handler: (request, reply) => this.#answer(route, request, reply),
      });
    }
  }

  async #admit(
    request: FastifyRequest,
    reply: FastifyReply,
    route: AgentRoute | undefined,
  ): Promise<Admitted> {
    const { stopping } = this.#options;
    if (stopping.aborted) throw isStopping();
    const signal = this.#lifetimes.begin(request.raw.socket, reply.raw);
    if (signal.aborted) throw hasGone();
    const caller = await admit(request, route, this.#options);
    if (signal.aborted) throw stopping.aborted ? isStopping() : hasGone();
    return { caller, signal };
  }

  async #answer(route: AgentRoute, raw: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (route.off !== undefined) throw new RefusedError(404, route.off);
    const answer = answerOf(raw.method, route);
    if (answer === undefined) {
      const allowed = Object.keys(route.methods).join(', ');
      reply.header('allow', allowed);
      throw new RefusedError(405, `Method Not Allowed: only ${allowed} is served here`);
    }
    return await answer(this.#requestFor(raw, reply));
  }

  #requestFor(raw: FastifyRequest, reply: FastifyReply): AgentRequest {
    const admitted = this.#admitted.get(raw);
    if (admitted === undefined) throw new Error('a request came to its handler without being admitted');
    const { caller, signal } = admitted;
    return {
      params: paramsOf(raw),
      query: queryOf(raw.url),
      caller,
      requester: requesterOf(caller, raw.headers),
      signal,
      stopping: this.#options.stopping,
      raw,
      reply,
    };
  }
}

/** What a route may serve and clients use by mistake. The router keeps 2 KiB for each of them and each route. */
const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The route of a request whose method the router does not know: it is refused as any other that a route does not serve. */
function findRoute(routes: readonly AgentRoute[], { method, url }: FastifyRequest): AgentRoute | undefined {
  if (routedMethods.includes(method)) return undefined;
  const [path = ''] = url.split(/[?;#]/);
  const asked = path.split('/');
  return routes.find((route) => {
    const parts = route.path.split('/');
    return (
      parts.length === asked.length &&
      parts.every((part, at) => (part.startsWith(':') ? asked[at] !== '' : part === asked[at]))
    );
  });
}

const isStopping = () => new RefusedError(503, 'the agent is being stopped');
/** For a client that does not read the answer any more. */
const hasGone = () => new RefusedError(503, 'the client went away');

function paramsOf({ params }: FastifyRequest): Record<string, string> {
  const entries: [string, unknown][] =
    typeof params === 'object' && params !== null ? Object.entries(params) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
}
