import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { DeadlineError, withDeadline } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { NodeUsage } from './node-usage.ts';
import type { OwnUsageAsked, OwnUsageOptions } from './own-usage.ts';
import { readOwnUsage, readSystemUsage } from './own-usage.ts';
import { currentPods } from './pods.ts';
import type { RuntimeSource } from './runtime-source.ts';
import type { SummaryParts, Usage } from './summary.ts';

export interface CollectOptions {
  readonly nodeName: string;
  readonly source: Pick<RuntimeSource, 'pods' | 'usage' | 'containerUsage' | 'imageDisks'>;
  /** The pods that are meant for this node, whether they run or not; default none. */
  known?(): readonly Pod[];
  /** In bounded time, whatever the runtime does. */
  nodeUsage(signal: AbortSignal): Promise<NodeUsage>;
  /** What pods use by the kernel's files; default: the runtime is asked. Pods without a group of this agent are asked of it too. */
  readonly own?: OwnUsageOptions;
  readonly clock: Clock;
}

/**
 * For all questions to the runtime for one answer. CPU and memory are what the control plane asks for, which waits three seconds for
 * a node; the rest is for people and Prometheus, which waits ten.
 */
const runtimeMs = { cpuAndMemory: 2000, all: 8000 } as const;

/**
 * What the node and its pods use. Without the runtime, or one that hangs, it has what the kernel says of the node, and `missing` says
 * why there is no more.
 */
export async function collect(options: CollectOptions, onlyCpuAndMemory: boolean): Promise<SummaryParts> {
  const { nodeName, source, own, clock } = options;
  const runtime = new RuntimeQuestions(clock, onlyCpuAndMemory ? runtimeMs.cpuAndMemory : runtimeMs.all);
  const [node, pods = [], disks = {}] = await Promise.all([
    options.nodeUsage(new AbortController().signal),
    runtime.ask((cancel) => source.pods(false, cancel)),
    onlyCpuAndMemory ? undefined : runtime.ask((cancel) => source.imageDisks(cancel)),
  ]);
  const ready = currentPods(pods).filter((pod) => pod.ready);
  const usage = await readUsage(options, { pods: ready, fs: node.fs, onlyCpuAndMemory }, runtime);
  const system = own && readSystemUsage(own);
  return { nodeName, onlyCpuAndMemory, node, pods, usage, system, disks, missing: runtime.failure };
}

async function readUsage(
  { own, known, source }: CollectOptions,
  asked: Omit<OwnUsageAsked, 'known'>,
  runtime: RuntimeQuestions,
): Promise<Usage> {
  const byUid = new Map((known?.() ?? []).map((pod) => [pod.metadata?.uid ?? '', pod]));
  const found = own === undefined ? [] : await readOwnUsage(own, { ...asked, known: byUid });
  if (found.length === asked.pods.length) return { pods: found, containers: [] };
  const ofPods = await runtime.ask((cancel) => source.usage(cancel));
  const containers = ofPods === undefined ? await runtime.ask((cancel) => source.containerUsage(cancel)) : [];
  // those of the kernel come last: of two figures of one pod the later one is used
  return { pods: [...(ofPods ?? []), ...found], containers: containers ?? [] };
}

/** Asks the runtime for the parts of one answer. After a failure, or when the time for all of them is over, nothing more is asked. */
class RuntimeQuestions {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #startMs: number;
  readonly #never = new AbortController().signal;
  #failure: string | undefined;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#startMs = clock.monotonicMs();
  }

  /** Why something was not answered; undefined: everything was. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Undefined where there is no answer. */
  async ask<T>(question: (cancel: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (this.#failure !== undefined) return undefined;
    const leftMs = Math.max(0, this.#timeoutMs - (this.#clock.monotonicMs() - this.#startMs));
    const limits = { clock: this.#clock, timeoutMs: leftMs, signal: this.#never };
    try {
      return await withDeadline(
        limits,
        () => `it did not answer within ${this.#timeoutMs / 1000} s`,
        question,
      );
    } catch (error) {
      this.#failure ??= describeRuntimeFailure(error);
      return undefined;
    }
  }
}

/** For answers. Throws what is no failure of the runtime. */
export function describeRuntimeFailure(error: unknown): string {
  if (!(error instanceof RuntimeError || error instanceof DeadlineError)) throw error;
  return `the container runtime cannot be asked: ${error.message}`;
}
