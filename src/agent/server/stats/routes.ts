import { isIP } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../../base/index.ts';
import { SingleFlight, withDeadline } from '../../../base/index.ts';
import type { AgentRequest, AgentRoute } from '../index.ts';
import { RefusedError, sendJson } from '../index.ts';
import type { CollectOptions } from './collect.ts';
import { collect, describeRuntimeFailure } from './collect.ts';
import { mergeKnownPods, podList, runningPodList } from './pod-list.ts';
import { formatResourceMetrics } from './resource-metrics.ts';
import { summary } from './summary.ts';

export interface StatsRoutesOptions extends CollectOptions {
  /** Of the node, including names. */
  addresses(): readonly string[];
  /** Such as containerd; empty while it is not known. */
  runtimeName(): string;
}

/** For all queries to the runtime for one list of pods, which asks it of each container. */
const listTimeoutMs = 20_000;

/** `/pods`, `/runningpods/`, `/stats/summary` and `/metrics/resource`: what runs on this node, and what it uses. */
export function statsRoutes(options: StatsRoutesOptions): readonly AgentRoute[] {
  const { source, clock } = options;
  const detailed = shared(() => listPods(clock, (cancel) => source.pods(true, cancel)));
  const plain = shared(() => listPods(clock, (cancel) => source.pods(false, cancel)));
  const lean = shared(() => collect(options, true));
  const whole = shared(() => collect(options, false));

  const listOptions = () => ({
    nodeName: options.nodeName,
    addresses: options.addresses().filter((address) => isIP(address) !== 0),
    runtimeName: options.runtimeName(),
  });

  async function answerSummary({ query, reply }: AgentRequest): Promise<FastifyReply> {
    const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
    const parts = await (onlyCpuAndMemory ? lean() : whole());
    if (parts.missing !== undefined) warn(reply, `${parts.missing}; what pods use is not complete`);
    return sendJson(reply, 200, summary(parts));
  }

  async function answerResources({ reply }: AgentRequest): Promise<FastifyReply> {
    reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return reply.send(formatResourceMetrics(await lean()));
  }

  /** Without the runtime it answers with the known pods and a warning; where there are none, with an error. */
  async function answerPods({ reply }: AgentRequest): Promise<FastifyReply> {
    const known = options.known?.() ?? [];
    try {
      const running = podList(await detailed(), listOptions());
      return sendJson(reply, 200, mergeKnownPods(running, known));
    } catch (error) {
      if (!(error instanceof RefusedError) || known.length === 0) throw error;
      warn(reply, `${error.message}; the running containers are not listed`);
      return sendJson(reply, 200, mergeKnownPods(podList([], listOptions()), known));
    }
  }

  const lists = (path: string, subresource: string, ask: () => Promise<unknown>): AgentRoute => ({
    path,
    subresource,
    methods: { GET: async ({ reply }) => sendJson(reply, 200, await ask()) },
  });
  const running = async () => runningPodList(await plain());
  return [
    { path: '/pods', subresource: 'pods', methods: { GET: answerPods } },
    lists('/runningpods', 'pods', running),
    lists('/runningpods/', 'pods', running),
    { path: '/metrics/resource', subresource: 'metrics', methods: { GET: answerResources } },
    { path: '/stats/summary', subresource: 'stats', methods: { GET: answerSummary } },
  ];
}

/** Says beside an answer what it lacks (RFC 9111, 5.5). */
function warn(reply: FastifyReply, text: string): void {
  const quoted = text.replaceAll(/[^\x20-\x7e]|["\\]/g, ' ').slice(0, 1000);
  reply.header('warning', `299 - "${quoted}"`);
}

/** Throws 503 with the runtime's message where it cannot be asked: an empty list would mean that nothing runs. */
async function listPods<T>(clock: Clock, ask: (cancel: AbortSignal) => Promise<T>): Promise<T> {
  const limits = { clock, timeoutMs: listTimeoutMs, signal: new AbortController().signal };
  try {
    return await withDeadline(limits, 'it', ask);
  } catch (error) {
    throw new RefusedError(503, describeRuntimeFailure(error));
  }
}

/**
 * Requests that come while the same query is under way share it: a hundred requests cost the runtime one query. It is not
 * cancelled when one client goes.
 */
function shared<T>(query: () => Promise<T>): () => Promise<T> {
  const running = new SingleFlight<T>();
  return () => running.run('', query);
}
