import type { Node, Pod, Taint } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import { untilAborted } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import { namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { WorkQueue } from '../work-queue.ts';
import type { AwakeTime } from './awake-time.ts';
import { DueTimes } from './due-times.ts';
import { podEvictor } from './pod-evictor.ts';
import type { Telling } from './telling.ts';
import { toleratedSeconds } from './tolerations.ts';

/*
 * A NoExecute taint, whoever set it, takes pods off its node: at once those that do not tolerate it, in time those that
 * tolerate it for some seconds. Pods are looked at when their node's taints change, or when they change themselves while
 * their node has such taints; nothing is read or kept of any other.
 */

export type PodEvictionsOptions = ControllerOptions & { tell: Pick<Telling, 'podEvicted' | 'podStays'> };

interface TaintedNode {
  /** The taints that count, as text. */
  text: string;
  taints: readonly Taint[];
  /** Since when each of its pods waits for its end, by key; AwakeTime. */
  waiting: Map<string, number>;
}

/** Evictions at once: enough to share the store's group commits. */
const atOnce = 8;
const minSleepMs = 100;
/** There is no pod of such a key. */
const podsOf = 'pods of ';

export class PodEvictions {
  readonly #options: PodEvictionsOptions;
  readonly #awake: AwakeTime;
  readonly #pods: Resource<Pod>;
  readonly #tainted = new Map<string, TaintedNode>();
  readonly #due = new DueTimes();
  readonly #queue: WorkQueue;
  readonly #evict: (key: string, pod: Pod) => Promise<void>;
  #sooner = new AbortController();

  constructor(options: PodEvictionsOptions, awake: AwakeTime) {
    const { registry, clock, log } = options;
    this.#options = options;
    this.#awake = awake;
    this.#pods = registry.of(podKind);
    this.#queue = new WorkQueue({ work: (key) => this.#work(key), atOnce, clock, log });
    this.#evict = podEvictor(options, (key) => this.#queue.add(key));
  }

  /** Tells how a node is now; undefined: it is gone, and its pods are others' business. */
  nodeChanged(name: string, node: Node | undefined): void {
    const taints = (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
    const text = JSON.stringify(taints.map(({ key, value = '' }) => [key, value]));
    const before = this.#tainted.get(name);
    if (taints.length === 0) {
      this.#tainted.delete(name);
      for (const key of before?.waiting.keys() ?? []) {
        if (node !== undefined) this.#tellOfStay(key);
        this.#due.delete(key);
      }
    } else if (text !== before?.text) {
      this.#tainted.set(name, { text, taints, waiting: before?.waiting ?? new Map() });
      this.#queue.add(podsOf + name);
    }
  }

  /** Works until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const look = (next: Stored) => this.#podChanged(next, (_node, key) => this.#queue.add(key));
    const gone = (previous: Stored) => this.#podChanged(previous, (node, key) => this.#stay(node, key));
    using _following = this.#pods.follow({ added: look, changed: look, gone });
    await Promise.all([this.#queue.run(signal), this.#wakeInTime(signal)]);
  }

  #podChanged(state: Stored, then: (node: TaintedNode, key: string) => void): void {
    if (this.#tainted.size === 0) return;
    for (const name of namedNodes(state)) {
      const node = this.#tainted.get(name);
      if (node !== undefined) then(node, state.key);
    }
  }

  async #work(key: string): Promise<void> {
    if (!key.startsWith(podsOf)) return await this.#look(key);
    const node = key.slice(podsOf.length);
    const listing = await this.#pods.index('spec.nodeName')?.list(node, this.#pods.prefix(''), '');
    for (const pod of listing?.items ?? []) this.#queue.add(pod.key);
  }

  async #look(key: string): Promise<void> {
    const stored = this.#options.storage.get(key);
    const pod = stored && this.#pods.encoding.read(stored);
    const node = this.#tainted.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined) return;
    const dueMs = this.#endOf(key, pod, node);
    if (dueMs === Number.POSITIVE_INFINITY) {
      this.#tellOfStay(key);
      return this.#stay(node, key);
    }
    if (dueMs > this.#awake.nowMs) return this.#wait(key, dueMs);
    await this.#evict(key, pod);
    this.#stay(node, key);
  }

  /** When a pod has to go from its node. */
  #endOf(key: string, { metadata, spec }: Pod, { taints, waiting }: TaintedNode): number {
    if (metadata?.deletionTimestamp !== undefined) return Number.POSITIVE_INFINITY; // it goes
    const seconds = toleratedSeconds(taints, spec?.tolerations ?? []);
    if (seconds === Number.POSITIVE_INFINITY) return seconds;
    const sinceMs = waiting.get(key) ?? this.#awake.nowMs;
    waiting.set(key, sinceMs);
    return sinceMs + seconds * 1000;
  }

  #wait(key: string, dueMs: number): void {
    this.#due.set(key, dueMs);
    this.#sooner.abort();
  }

  /** Where a pod was to go in time. */
  #tellOfStay(key: string): void {
    const stored = this.#due.has(key) ? this.#options.storage.get(key) : undefined;
    const metadata = stored && this.#pods.encoding.read(stored).metadata;
    if (metadata !== undefined && metadata.deletionTimestamp === undefined) {
      this.#options.tell.podStays(metadata);
    }
  }

  #stay({ waiting }: TaintedNode, key: string): void {
    waiting.delete(key);
    this.#due.delete(key);
  }

  async #wakeInTime(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const key of this.#due.take(this.#awake.nowMs)) this.#queue.add(key);
      this.#sooner = new AbortController();
      const either = AbortSignal.any([signal, this.#sooner.signal]);
      const { nextMs } = this.#due;
      if (nextMs === undefined) await untilAborted(either);
      else {
        const sleepMs = Math.max(minSleepMs, nextMs - this.#awake.nowMs);
        await this.#options.clock.sleep(sleepMs, either);
      }
    }
  }
}
