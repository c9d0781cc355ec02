import { request as httpRequest } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Pool } from 'undici';
import type { Node } from '../../api/index.ts';
import type { Declined, Upgrade } from '../../base/https/index.ts';
import { askUpgrade, passUpgrade, upgradeHeaders } from '../../base/https/index.ts';
import type { Clock, MetricsRegistry } from '../../base/index.ts';
import type { Carried } from '../../base/streams/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import type { WebStream } from '../web-streams/index.ts';
import type { DialLimits } from './connector.ts';
import type { Forwarded, ProxyTimes } from './forward.ts';
import { forward, minuteMs, streamTimes, untilEnded } from './forward.ts';
import { createCallerHeaders, createNodeHeaders } from './headers.ts';
import type { NamedNode } from './node-name.ts';
import { NodePools } from './pools.ts';
import { badGateway, toProxyError } from './proxy-errors.ts';
import type { ProxyLimits } from './proxy-slots.ts';
import { ProxySlots, proxyLimits, requestMetrics, streamLimits, streamMetrics } from './proxy-slots.ts';
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
export const proxyTimes: ProxyTimes = {
  readMs: 5 * minuteMs,
  workMs: 60 * minuteMs,
  idleMs: 10 * minuteMs,
  stallMs: 2 * minuteMs,
  totalMs: 6 * 60 * minuteMs,
};
/** A request to be forwarded. */
export interface ProxiedRequest
  extends Pick<
    Forwarded,
    'target' | 'untilMs' | 'bodyLimitBytes' | 'request' | 'response' | 'onAnswer' | 'refuse'
  > {
  node: Node;
  named: NamedNode;
  /** Where the node's paths are for the caller. */
  prefix: string;
  /** The name of the user who asks. */
  requester: string;
  /** Whether the answer may last as long as its reader wants, such as a log that is followed. Default false. */
  isStream?: boolean;
}

/** A stream to be joined with one to a node. */
export interface JoinedRequest
  extends Pick<
    ProxiedRequest,
    'node' | 'named' | 'target' | 'requester' | 'untilMs' | 'request' | 'onAnswer'
  > {
  upgrade: Upgrade;
  carried: Carried;
  /** How the client's words are said to the agent; undefined: as they are. */
  web: WebStream | undefined;
  /** Aborts when this server stops. */
  stopping: AbortSignal;
}

/** A short document of an agent, for the control plane itself. */
export interface NodeRead {
  readonly node: Node;
  /** Path and query at the agent. */
  readonly path: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface NodeProxy extends AsyncDisposable {
  /** Resolves to the body of an answer 200; rejects with an Error for anything else, and when the signal aborts. */
  read(asked: NodeRead): Promise<Buffer>;
  /** Resolves when the stream is over, or with what the agent answered instead of one; rejects with a StatusError. */
  join(request: JoinedRequest): Promise<Declined | undefined>;
  /** Resolves when all is over; rejects with a StatusError where no answer has begun. */
  pass(request: ProxiedRequest): Promise<void>;
}

export function createNodeProxy(options: NodeProxyOptions): NodeProxy {
  const { ca, identity, dial, metrics, clock, limits = proxyLimits } = options;
  const times = { ...proxyTimes, ...options.times };
  const bootId = readBootId();
  const slots = new ProxySlots(requestMetrics, limits, metrics);
  const streams = new ProxySlots(streamMetrics, streamLimits, metrics);
  const pools = new NodePools({ ca, identity, connections: limits.node + streamLimits.node, dial });
  return {
    async pass(asked) {
      const { named, requester, isStream = false } = asked;
      const target = resolveTarget(asked.node, named, bootId);
      const { node } = target;
      using _slot = (isStream ? streams : slots).take(requester, `node ${node}`);
      using pool = await pools.use(target);
      const forwarded: Forwarded = {
        ...asked,
        peer: `the agent of node ${node}`,
        toPeer: (headers, hasBody) => ({
          host: node,
          ...createNodeHeaders({ headers, requester, hasBody }),
        }),
        toCaller: (headers) => createCallerHeaders(headers, asked.prefix),
        // the caller's credentials are never sent to the node: the node does not accept those of the control plane
        untrusted: badGateway(`the agent of node ${node} does not accept the control plane's certificate`),
      };
      await forward(forwarded, pool.pool, isStream ? streamTimes : times, clock);
    },
    async read({ node, path, maxBytes, signal }) {
      const name = node.metadata?.name ?? '';
      const target = resolveTarget(node, { name, port: undefined }, bootId);
      using pool = await pools.use(target);
      return await readDocument(pool.pool, { path, host: name, maxBytes, signal });
    },
    async join(asked) {
      const target = resolveTarget(asked.node, asked.named, bootId);
      using _slot = streams.take(asked.requester, `node ${target.node}`);
      try {
        return await joinStream(asked, await pools.dial(target), clock);
      } catch (error) {
        throw toProxyError(`the agent of node ${target.node}`, error);
      }
    },
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

const lost = 'the connection to the node was lost';

async function readDocument(
  pool: Pool,
  { path, host, maxBytes, signal }: { path: string; host: string; maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { host }, signal });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the answer of node ${host} is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`the agent of node ${host} answered ${statusCode}`);
  return Buffer.concat(chunks);
}

async function joinStream(
  { request, requester, named, target, untilMs, upgrade, onAnswer, web, carried, stopping }: JoinedRequest,
  socket: TLSSocket,
  clock: Clock,
): Promise<Declined | undefined> {
  const { method = 'GET', headers } = request;
  const asking = httpRequest({
    createConnection: () => socket,
    method: web === undefined ? method : 'POST',
    path: target,
    headers: {
      host: named.name,
      ...createNodeHeaders({ headers, requester, hasBody: false }),
      ...(web?.asks ?? upgradeHeaders(request)),
    },
  });
  try {
    return await untilEnded({ untilMs, stopping, clock }, async (ends, signal) => {
      const joining = { ...ends, lost };
      if (web === undefined)
        return await passUpgrade({ asking, upgrade, signal, ...joining, carried, onAgreed: onAnswer });
      const agreed = await askUpgrade({ asking, upgrade, signal });
      if (!('answer' in agreed)) return agreed;
      onAnswer(agreed.code);
      upgrade.take(agreed.code);
      await web.carry(request, upgrade, agreed, joining);
      return undefined;
    });
  } finally {
    socket.destroy();
  }
}
