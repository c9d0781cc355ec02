import type { Node } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import {
  BoundedMap,
  DeadlineError,
  describeError,
  Semaphore,
  SingleFlight,
  withDeadline,
} from '../../base/index.ts';
import type { NodeProxy } from '../node-proxy/index.ts';
import type { NodeAnswer } from './node-answer.ts';
import { parseNodeAnswer } from './node-answer.ts';

export interface NodeAnswersOptions {
  readonly proxy: Pick<NodeProxy, 'read'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** CPU and memory alone: the agent asks its runtime for no statistics. */
const path = '/stats/summary?only_cpu_and_memory=true';
const maxAgeMs = 10_000;
/** A node that did not answer is left alone for as long, then for twice as long, and so on. */
const leaveAlone = { firstMs: 5000, maxMs: 5 * 60_000 } as const;
/** Of one node; then nothing of it is waited for. */
const nodeTimeoutMs = 3000;
/** What a request waits at most for all nodes together: of later ones the next request has the answer. */
const patienceMs = 3000;
/** A node that gets no slot for as long is not asked: what a later request knows of it decides how it is asked then. */
const queueMs = 10_000;
/** Slots of their own, so that nodes that are away take none from the others. */
const concurrency = { likely: 24, doubtful: 8 } as const;
/** 500 pods with ten containers each. */
const maxBytes = 8 * 1024 * 1024;
const maxNodes = 5000;

interface Known {
  /** Undefined: it did not answer. */
  readonly answer: NodeAnswer | undefined;
  /** Monotonic. */
  readonly untilMs: number;
  /** How long it is left alone; 0 for one that answered. */
  readonly aloneMs: number;
  /** What its Node said of it when it was asked. */
  readonly sign: string;
}

/** How a node is asked. */
interface Asked {
  readonly name: string;
  readonly node: Node;
  readonly sign: string;
  /** What was found while its Node said the same of it, or an answer. */
  readonly known: Known | undefined;
  readonly isReady: boolean;
  readonly isLikely: boolean;
}

/**
 * What agents measure, asked when it is wanted and shared for ten seconds. A node that is slow or away holds up nobody for longer
 * than three seconds: it is missing then, and asked less and less often, until it answers or its agent reports to its Node again.
 */
export class NodeAnswers implements AsyncDisposable {
  readonly #options: NodeAnswersOptions;
  readonly #known = new BoundedMap<string, Known>({ maxEntries: maxNodes });
  readonly #asking = new SingleFlight<NodeAnswer | undefined>();
  /** Of nodes that are ready, or that answered. */
  readonly #likely = new Semaphore(() => concurrency.likely);
  readonly #doubtful = new Semaphore(() => concurrency.doubtful);
  readonly #stopped = new AbortController();

  constructor(options: NodeAnswersOptions) {
    this.#options = options;
  }

  /** By name of the node; without nodes that do not answer. */
  async read(nodes: readonly Node[], signal: AbortSignal): Promise<ReadonlyMap<string, NodeAnswer>> {
    const found = new Map<string, NodeAnswer>();
    const reading = Promise.all(
      this.#inOrder(nodes).map(async (asked) => {
        const answer = await this.#answerOf(asked);
        if (answer !== undefined) found.set(asked.name, answer);
      }),
    );
    await this.#withPatience(reading, signal);
    return new Map(found);
  }

  /** Ends all questions. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort(new Error('the server stops'));
  }

  async #withPatience(reading: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const limits = { clock: this.#options.clock, timeoutMs: patienceMs, signal };
    try {
      await withDeadline(limits, 'the agents', () => reading);
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
    }
  }

  /** Those that are ready first, and of them those of which the oldest is known. */
  #inOrder(nodes: readonly Node[]): Asked[] {
    const ageOf = ({ known }: Asked) => known?.untilMs ?? 0;
    return nodes
      .map((node) => this.#judge(node))
      .sort((a, b) => Number(b.isReady) - Number(a.isReady) || ageOf(a) - ageOf(b));
  }

  #judge(node: Node): Asked {
    const name = node.metadata?.name ?? '';
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    const isReady = ready?.status === 'True';
    const sign = JSON.stringify([node.metadata?.uid, ready?.status, ready?.lastHeartbeatTime]);
    const last = this.#known.get(name);
    const isSame = last?.sign === sign;
    return {
      ...{ name, node, sign, isReady },
      known: isSame || last?.answer !== undefined ? last : undefined,
      isLikely: isSame ? last.answer !== undefined : isReady,
    };
  }

  async #answerOf(asked: Asked): Promise<NodeAnswer | undefined> {
    const { name, known } = asked;
    if (known !== undefined && this.#options.clock.monotonicMs() < known.untilMs) return known.answer;
    return await this.#asking.run(name, () => this.#ask(asked));
  }

  async #ask({ name, node, sign, known, isLikely }: Asked): Promise<NodeAnswer | undefined> {
    const { proxy, clock, log } = this.#options;
    const sinceMs = clock.monotonicMs();
    let answer: NodeAnswer | undefined;
    try {
      using _ = await (isLikely ? this.#likely : this.#doubtful).acquire(this.#stopped.signal);
      if (clock.monotonicMs() - sinceMs >= queueMs) return undefined;
      const limits = { clock, timeoutMs: nodeTimeoutMs, signal: this.#stopped.signal };
      const body = await withDeadline(limits, `the agent of node ${name}`, (signal) =>
        proxy.read({ node, path, maxBytes, signal }),
      );
      answer = parseNodeAnswer(body.toString('utf8'));
    } catch (error) {
      log.debug(`node ${name} does not say what it uses: ${describeError(error)}`);
    }
    const { firstMs, maxMs } = leaveAlone;
    const aloneMs = answer === undefined ? Math.min(maxMs, 2 * (known?.aloneMs ?? 0) || firstMs) : 0;
    const untilMs = clock.monotonicMs() + (answer === undefined ? aloneMs : maxAgeMs);
    this.#known.set(name, { answer, untilMs, aloneMs, sign });
    return answer;
  }
}
