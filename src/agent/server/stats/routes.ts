import { isIP } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { DeadlineError, withDeadline } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { AgentRequest, AgentRoute } from '../index.ts';
import { RefusedError, sendJson } from '../index.ts';
import { mergeKnownPods } from './known-pods.ts';
import type { NodeUsage } from './node-usage.ts';
import type { OwnUsageAsked, OwnUsageOptions } from './own-usage.ts';
import { readOwnUsage, readSystemUsage } from './own-usage.ts';
import { podList, runningPodList } from './pod-list.ts';
import { currentPods } from './pods.ts';
import { formatResourceMetrics } from './resource-metrics.ts';
import type { RuntimeSource } from './runtime-source.ts';
import type { SummaryParts, Usage } from './summary.ts';
import { summary } from './summary.ts';

export interface StatsRoutesOptions {
  nodeName: string;
  /** Of the node, including names. */
  addresses(): readonly string[];
  /** Such as containerd; empty while it is not known. */
  runtimeName(): string;
  source: Pick<RuntimeSource, 'pods' | 'usage' | 'containerUsage' | 'imageDisks'>;
  /** The pods that are meant for this node, whether they run or not; default none. */
  known?(): readonly Pod[];
  nodeUsage(signal: AbortSignal): Promise<NodeUsage>;
  /** What pods use by the kernel's files; default: the runtime is asked. Pods without a group of this agent are asked of it too. */
  readonly own?: OwnUsageOptions;
  readonly clock: Clock;
}

/** For all queries to the runtime for one answer. */
const timeoutMs = 20_000;

/** `/pods`, `/runningpods/`, `/stats/summary` and `/metrics/resource`: what runs on this node, and what it uses. */
export function statsRoutes(options: StatsRoutesOptions): readonly AgentRoute[] {
  const { source, clock } = options;
  const detailed = shareQuery(clock, (cancel) => source.pods(true, cancel));
  const plain = shareQuery(clock, (cancel) => source.pods(false, cancel));
  const lean = shareQuery(clock, (cancel) => collect(options, true, cancel));
  const whole = shareQuery(clock, (cancel) => collect(options, false, cancel));

  const listOptions = () => ({
    nodeName: options.nodeName,
    addresses: options.addresses().filter((address) => isIP(address) !== 0),
    runtimeName: options.runtimeName(),
  });

  async function answerSummary({ query, reply }: AgentRequest): Promise<FastifyReply> {
    const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
    const parts = await (onlyCpuAndMemory ? lean() : whole());
    return sendJson(reply, 200, summary(parts));
  }

  async function answerResources({ reply }: AgentRequest): Promise<FastifyReply> {
    const parts = await lean().catch((error: unknown) => {
      if (!(error instanceof RefusedError)) throw error;
      return undefined;
    });
    reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return reply.send(formatResourceMetrics(parts));
  }

  /** Without the runtime it answers with the known pods and a warning; where there are none, with an error. */
  async function answerPods({ reply }: AgentRequest): Promise<FastifyReply> {
    const known = options.known?.() ?? [];
    try {
      const running = podList(await detailed(), listOptions());
      return sendJson(reply, 200, mergeKnownPods(running, known));
    } catch (error) {
      if (!(error instanceof RefusedError) || known.length === 0) throw error;
      const warning = `${error.message}; the running containers are not listed`.replaceAll(
        /[^\x20-\x7e]|["\\]/g,
        ' ',
      );
      reply.header('warning', `299 - "${warning.slice(0, 1000)}"`);
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

async function collect(
  options: StatsRoutesOptions,
  onlyCpuAndMemory: boolean,
  cancel: AbortSignal,
): Promise<SummaryParts> {
  const { nodeName, source } = options;
  const [node, pods, disks] = await Promise.all([
    options.nodeUsage(cancel),
    source.pods(false, cancel),
    onlyCpuAndMemory ? {} : source.imageDisks(cancel),
  ]);
  const ready = currentPods(pods).filter((pod) => pod.ready);
  const usage = await readUsage(options, { pods: ready, fs: node.fs, onlyCpuAndMemory }, cancel);
  return { nodeName, onlyCpuAndMemory, node, pods, usage, disks };
}

async function readUsage(
  { own, known, source }: StatsRoutesOptions,
  asked: Omit<OwnUsageAsked, 'known'>,
  cancel: AbortSignal,
): Promise<Usage> {
  if (own === undefined) return await askUsage(source, cancel);
  const byUid = new Map((known?.() ?? []).map((pod) => [pod.metadata?.uid ?? '', pod]));
  const system = readSystemUsage(own);
  const found = await readOwnUsage(own, { ...asked, known: byUid });
  if (found.length === asked.pods.length) return { pods: found, containers: [], system };
  const rest = await askUsage(source, cancel);
  // those of the kernel come last: of two figures of one pod the later one is used
  return { pods: [...(rest.pods ?? []), ...found], containers: rest.containers, system };
}

async function askUsage(source: StatsRoutesOptions['source'], cancel: AbortSignal): Promise<Usage> {
  const pods = await source.usage(cancel);
  return { pods, containers: pods === undefined ? await source.containerUsage(cancel) : [] };
}

/**
 * Requests that come while the same query is under way share it: a hundred requests cost the runtime one query. It is not
 * cancelled when one client goes. Where the runtime cannot be queried the answer is 503 with the runtime's message: an empty
 * list would mean that nothing runs.
 */
function shareQuery<T>(clock: Clock, ask: (cancel: AbortSignal) => Promise<T>): () => Promise<T> {
  const limits = { clock, timeoutMs, signal: new AbortController().signal };
  let running: Promise<T> | undefined;
  return () => {
    running ??= withDeadline(limits, 'it', ask)
      .catch((error: unknown) => {
        if (!(error instanceof RuntimeError || error instanceof DeadlineError)) throw error;
        throw new RefusedError(503, `the container runtime cannot be asked: ${error.message}`);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}
