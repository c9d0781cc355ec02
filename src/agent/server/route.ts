import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from './access/index.ts';

/** A path that the agent serves, declared by the part that answers it. */
export interface AgentRoute {
  /** In the language of fastify, such as `/checkpoint/:namespace/:pod/:container`; each parameter is decoded once. */
  readonly path: string;
  /** What it is authorized as: `nodes/checkpoint` of this node is `checkpoint`. */
  readonly subresource: string;
  /** Any other method is answered with 405. */
  readonly methods: Readonly<Partial<Record<Method, Answer | MethodRoute>>>;
  /** Whether the connection of a request may go on with another protocol (`upgradeOf`). Default false. */
  readonly upgrades?: true;
  /** A feature is off: every authorized request for the path is answered with 404 and this text, whatever its method. */
  readonly off?: string | undefined;
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface MethodRoute {
  /** Instead of the method's own, such as `list`. */
  readonly verb?: string;
  readonly answer: Answer;
}

/** Throws a RefusedError for what is answered in plain text; any other error is logged and answered with 500. */
export type Answer = (request: AgentRequest) => Promise<FastifyReply> | FastifyReply;

/** An authorized request. */
export interface AgentRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** For logs and records: the caller's name, or that of the user for whom the control plane calls. Not for decisions. */
  readonly requester: string;
  /** Aborts when the client goes away, when the agent stops, and after the answer. */
  readonly signal: AbortSignal;
  /** Aborts when the agent stops; the client is still connected then and can be answered. */
  readonly stopping: AbortSignal;
  /** Its headers, its body (a Buffer, at most 1 KiB) and, below, the request of node:http. */
  readonly raw: FastifyRequest;
  /** Streams sent through it are read only as fast as the client receives them. */
  readonly reply: FastifyReply;
}

/** As the reference has it. */
const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The verb that a method on a route is authorized as. */
export function verbOf(method: string, route: AgentRoute | undefined): string {
  const found = methodOf(method, route);
  return (
    (found !== undefined && typeof found !== 'function' && found.verb) ||
    verbs[method] ||
    method.toLowerCase()
  );
}

export function answerOf(method: string, route: AgentRoute): Answer | undefined {
  const found = methodOf(method, route);
  return typeof found === 'function' ? found : found?.answer;
}

function methodOf(method: string, route: AgentRoute | undefined): Answer | MethodRoute | undefined {
  return Object.entries(route?.methods ?? {}).find(([name]) => name === method)?.[1];
}

/** The subresources of the reference for paths that are not served here, or not by every configuration. */
const unserved: Readonly<Record<string, string>> = { logs: 'log', stats: 'stats', metrics: 'metrics' };

/** Subresources that are older than the fine-grained ones; in the reference `proxy` does not include them either. */
const coarse: readonly string[] = ['checkpoint', 'stats', 'metrics', 'log', 'statusz', 'proxy'];

/**
 * The subresources of this node that permit a route; any of them is enough. Permission for `proxy` includes those for the
 * newer fine-grained subresources, as in the reference.
 */
export function subresourcesOf(route: AgentRoute): readonly string[] {
  const { subresource } = route;
  return coarse.includes(subresource) ? [subresource] : [subresource, 'proxy'];
}

/** The same for a path without a route: that of a route with the same first segment. `url` may have a query. */
export function subresourcesOfUnknown(url: string, routes: readonly AgentRoute[]): readonly string[] {
  const first = firstSegment(url.split('?', 1)[0] ?? '');
  const near = routes.find(({ path }) => first !== '' && firstSegment(path) === first);
  if (near !== undefined) return subresourcesOf(near);
  return [Object.hasOwn(unserved, first) ? (unserved[first] ?? 'proxy') : 'proxy'];
}

export const firstSegment = (path: string): string =>
  path.startsWith('/') ? (path.split('/', 2)[1] ?? '') : '';
