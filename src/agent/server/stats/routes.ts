import { isIP } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Pod } from '../../../api/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { AgentRequest, AgentRoute } from '../index.ts';
import { RefusedError, sendJson } from '../index.ts';
import { mergeKnownPods } from './known-pods.ts';
import type { NodeUsage } from './node-usage.ts';
import { podList, runningPodList } from './pod-list.ts';
import type { PodAt } from './pods.ts';
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
}

/** For all queries to the runtime for one answer. */
const timeoutMs = 20_000;

/** `/pods`, `/runningpods/` and `/stats/summary`: what runs on this node, and what it uses. */
export function statsRoutes(options: StatsRoutesOptions): readonly AgentRoute[] {
  const { source } = options;
  const detailed = shareQuery((cancel) => source.pods(true, cancel));
  const plain = shareQuery((cancel) => source.pods(false, cancel));
  const usage = shareQuery((cancel) => allUsage(source, cancel));
  const disks = shareQuery((cancel) => source.imageDisks(cancel));
  const node = shareQuery((signal) => options.nodeUsage(signal));

  const listOptions = () => ({
    nodeName: options.nodeName,
    addresses: options.addresses().filter((address) => isIP(address) !== 0),
    runtimeName: options.runtimeName(),
  });

  async function answerSummary({ query, reply }: AgentRequest): Promise<FastifyReply> {
    const onlyCpuAndMemory = query.get('only_cpu_and_memory') === 'true';
    const parts: SummaryParts = {
      nodeName: options.nodeName,
      onlyCpuAndMemory,
      ...(await awaitParts({ node: node(), pods: plain(), usage: usage(), disks: disks() })),
    };
    return sendJson(reply, 200, summary(parts));
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
    { path: '/stats/summary', subresource: 'stats', methods: { GET: answerSummary } },
  ];
}

async function awaitParts(asked: {
  node: Promise<NodeUsage>;
  pods: Promise<readonly PodAt[]>;
  usage: Promise<Usage>;
  disks: Promise<SummaryParts['disks']>;
}): Promise<Pick<SummaryParts, 'node' | 'pods' | 'usage' | 'disks'>> {
  const [node, pods, usage, disks] = await Promise.all([asked.node, asked.pods, asked.usage, asked.disks]);
  return { node, pods, usage, disks };
}

async function allUsage(source: StatsRoutesOptions['source'], cancel: AbortSignal): Promise<Usage> {
  const pods = await source.usage(cancel);
  return { pods, containers: pods === undefined ? await source.containerUsage(cancel) : [] };
}

/**
 * Requests that come while the same query is under way share it: a hundred requests cost the runtime one query. It is not
 * cancelled when one client goes. Where the runtime cannot be queried the answer is 503 with the runtime's message: an empty
 * list would mean that nothing runs.
 */
function shareQuery<T>(ask: (cancel: AbortSignal) => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= ask(AbortSignal.timeout(timeoutMs))
      .catch((error: unknown) => {
        if (!(error instanceof RuntimeError)) throw error;
        throw new RefusedError(503, `the container runtime cannot be asked: ${error.message}`);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}
