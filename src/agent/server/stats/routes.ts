import { isIP } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Pod } from '../../../api/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { AgentRequest, AgentRoute } from '../index.ts';
import { RefusedError, sendJson } from '../index.ts';
import { withKnown } from './known-pods.ts';
import type { NodeUsage } from './node-usage.ts';
import { podList, runningPodList } from './pod-list.ts';
import type { PodAt } from './pods.ts';
import type { RuntimeSource } from './runtime-source.ts';
import type { SummaryParts, Usage } from './summary.ts';
import { summary } from './summary.ts';

export interface StatsRoutesOptions {
  nodeName: string;
  /** Of the node, names among them. */
  addresses(): readonly string[];
  /** Such as containerd; empty while it is not known. */
  runtimeName(): string;
  source: RuntimeSource;
  /** The pods that are meant for this node, whether they run or not; default none. */
  known?(): readonly Pod[];
  nodeUsage(signal: AbortSignal): Promise<NodeUsage>;
}

/** For all that is asked of the runtime for one answer. */
const timeoutMs = 20_000;

/** `/pods`, `/runningpods/` and `/stats/summary`: what runs on this node, and what it uses. */
export function statsRoutes(options: StatsRoutesOptions): readonly AgentRoute[] {
  const { source } = options;
  const detailed = shared((cancel) => source.pods(true, cancel));
  const plain = shared((cancel) => source.pods(false, cancel));
  const usage = shared((cancel) => allUsage(source, cancel));
  const disks = shared((cancel) => source.imageDisks(cancel));
  const node = shared((signal) => options.nodeUsage(signal));

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
      ...(await together({ node: node(), pods: plain(), usage: usage(), disks: disks() })),
    };
    return sendJson(reply, 200, summary(parts));
  }

  /** Where the runtime is away, what is known without it is told, with a warning; nothing at all is no answer. */
  async function answerPods({ reply }: AgentRequest): Promise<FastifyReply> {
    const known = options.known?.() ?? [];
    try {
      const running = podList(await detailed(), listOptions());
      return sendJson(reply, 200, withKnown(running, known));
    } catch (error) {
      if (!(error instanceof RefusedError) || known.length === 0) throw error;
      const warning = `${error.message}; what runs is not told`.replaceAll(/[^\x20-\x7e]|["\\]/g, ' ');
      reply.header('warning', `299 - "${warning.slice(0, 1000)}"`);
      return sendJson(reply, 200, withKnown(podList([], listOptions()), known));
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

async function together(asked: {
  node: Promise<NodeUsage>;
  pods: Promise<readonly PodAt[]>;
  usage: Promise<Usage>;
  disks: Promise<SummaryParts['disks']>;
}): Promise<Pick<SummaryParts, 'node' | 'pods' | 'usage' | 'disks'>> {
  const [node, pods, usage, disks] = await Promise.all([asked.node, asked.pods, asked.usage, asked.disks]);
  return { node, pods, usage, disks };
}

async function allUsage(source: RuntimeSource, cancel: AbortSignal): Promise<Usage> {
  const pods = await source.usage(cancel);
  return { pods, containers: pods === undefined ? await source.containerUsage(cancel) : [] };
}

/**
 * Who asks while the same is being found out gets that answer: a hundred who ask cost the runtime one question. It is not
 * given up when one of them goes. Where the runtime cannot be asked the answer is 503, in its words: an empty list would
 * say that nothing runs.
 */
function shared<T>(ask: (cancel: AbortSignal) => Promise<T>): () => Promise<T> {
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
