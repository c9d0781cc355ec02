import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Node } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Clock, MetricsRegistry } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import { bodyOf } from './body.ts';
import type { DialLimits } from './connector.ts';
import { Exchange } from './exchange.ts';
import { createNodeHeaders } from './headers.ts';
import type { NamedNode } from './node-name.ts';
import type { NodePool } from './pools.ts';
import { NodePools } from './pools.ts';
import type { ProxyLimits } from './proxy-slots.ts';
import { ProxySlots, proxyLimits } from './proxy-slots.ts';
import { readBootId, resolveTarget } from './target.ts';

/*
 * Requests to node agents through the control plane: `/api/v1/nodes/NAME/proxy/…` (specification, section 4.11; the proxy
 * verb of the reference).
 *
 *     caller ──credentials of its own──► control plane ──certificate of the control plane──► agent
 *
 * The caller has been authorized for nodes/proxy of this node before. The control plane authenticates to the agent with its
 * own certificate, and sends the name of the caller for the agent's records.
 */

export interface NodeProxyOptions {
  /** PEM of the authority that certifies nodes. */
  ca: string;
  /** Returns the current certificate with which the control plane authenticates to agents. */
  identity(): Pair;
  limits?: ProxyLimits;
  times?: Partial<ProxyTimes>;
  dial?: DialLimits;
  metrics: MetricsRegistry;
  clock: Clock;
}

/** A checkpoint takes minutes, and an archive as long as its reader does. */
export interface ProxyTimes {
  /** Until an answer begins, of a request that reads. */
  readonly readMs: number;
  /** The same of any other. */
  readonly workMs: number;
  /** Between two pieces of an answer. */
  readonly idleMs: number;
  /** How long the caller may take no bytes. */
  readonly stallMs: number;
  /** All together. */
  readonly totalMs: number;
}

const minuteMs = 60_000;
export const proxyTimes: ProxyTimes = {
  readMs: 5 * minuteMs,
  workMs: 60 * minuteMs,
  idleMs: 10 * minuteMs,
  stallMs: 2 * minuteMs,
  totalMs: 6 * 60 * minuteMs,
};

/** A request to be forwarded. */
export interface ProxiedRequest {
  node: Node;
  named: NamedNode;
  /** Path and query at the agent. */
  target: string;
  /** Where the node's paths are for the caller. */
  prefix: string;
  /** The name of the user who asks. */
  requester: string;
  /** When the caller's credential expires, and the request is ended: wall clock, milliseconds. */
  untilMs: number;
  bodyLimitBytes: number;
  request: IncomingMessage;
  response: ServerResponse;
  /** As in Exchange. */
  onAnswer(code: number): void;
}

export interface NodeProxy extends AsyncDisposable {
  /** Resolves when all is over; rejects with a StatusError where no answer has begun. */
  pass(request: ProxiedRequest): Promise<void>;
}

export function createNodeProxy(options: NodeProxyOptions): NodeProxy {
  const { ca, identity, dial, metrics, clock, limits = proxyLimits } = options;
  const times = { ...proxyTimes, ...options.times };
  const bootId = readBootId();
  const slots = new ProxySlots(limits, metrics);
  const pools = new NodePools({ ca, identity, connections: limits.node, dial });
  return {
    async pass(asked) {
      refuseUpgrade(asked.request);
      const { node, named, requester } = asked;
      const target = resolveTarget(node, named, bootId);
      using _slot = slots.take(requester, target.node);
      using pool = await pools.use(target);
      await exchange(asked, pool, times, clock);
    },
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

async function exchange(
  asked: ProxiedRequest,
  { pool }: NodePool,
  times: ProxyTimes,
  clock: Clock,
): Promise<void> {
  const { request, response, named, prefix, requester, target, onAnswer } = asked;
  const { method = 'GET', headers } = request;
  const body = bodyOf(request, asked.bodyLimitBytes);
  const passing = new Exchange({ node: named.name, response, prefix, onAnswer, stallMs: times.stallMs });
  using _bounds = limitExchange(passing, asked, times.totalMs, clock);
  pool.dispatch(
    {
      method,
      path: target,
      headers: {
        host: named.name,
        ...createNodeHeaders({ headers, requester, hasBody: body !== undefined }),
      },
      body: body ?? null,
      headersTimeout: ['GET', 'HEAD'].includes(method) ? times.readMs : times.workMs,
      bodyTimeout: times.idleMs,
    },
    passing,
  );
  await passing.done;
}

/** Ends an exchange when the caller is gone, its credential ends, or it has taken all the time there is. */
function limitExchange(
  passing: Exchange,
  { request, response, untilMs }: ProxiedRequest,
  totalMs: number,
  clock: Clock,
): Disposable {
  const gone = () => passing.cancel(new Error('the caller is gone'));
  const late = new StatusError('Timeout', 'the request has taken all the time that it may');
  const timer = setTimeout(() => passing.cancel(late), Math.max(0, Math.min(totalMs, untilMs - clock.now())));
  // a response that waits behind another one on its connection gets no event when the connection closes
  const waits = response.socket === null;
  response.once('close', gone);
  if (waits) request.socket.once('close', gone);
  if (response.destroyed) gone();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      response.off('close', gone);
      if (waits) request.socket.off('close', gone);
    },
  };
}

function refuseUpgrade({ headers, method }: IncomingMessage): void {
  if (headers.upgrade === undefined && method !== 'CONNECT') return;
  throw new StatusError(
    'BadRequest',
    'node agents serve no upgraded connections, such as those of WebSocket',
  );
}
