import type { Node, Pod, Taint } from '../../../api/index.ts';
import { nodeKind, podKind } from '../../../api/index.ts';
import { untilAborted } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import { namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { DueTimes } from '../due-times.ts';
import { isUnreadable } from '../presence.ts';
import { WorkQueue } from '../work-queue.ts';
import type { AwakeTime } from './awake-time.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';
import { createPodEvictor } from './pod-evictor.ts';
import { computeToleratedSeconds } from './tolerations.ts';

/*
 * A NoExecute taint, whichever client set it, evicts pods from its node: at once those that do not tolerate it, later
 * those that tolerate it for some seconds. A pod is checked when the taints of its node change, or when it changes itself
 * while its node has such taints; no other pods are read or remembered.
 */

export type PodEvictionsOptions = ControllerOptions & {
  events: Pick<LifecycleEvents, 'podEvicted' | 'podStays'>;
};

interface TaintedNode {
  /** The NoExecute taints, as text. */
  text: string;
  taints: readonly Taint[];
  /** Since when each of its pods waits for its eviction, by key; AwakeTime. */
  waiting: Map<string, number>;
}

/** Evictions at once: enough to share the store's group commits. */
const atOnce = 8;
const minSleepMs = 100;
/** Queue keys that stand for all pods of a node; no pod has such a key. */
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
    this.#evict = createPodEvictor(options, (key) => this.#queue.add(key));
  }

  /** To be called with the present state of a node; undefined: it is gone, and other controllers remove its pods. */
  nodeChanged(name: string, node: Node | undefined): void {
    const taints = (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
    const text = JSON.stringify(taints.map(({ key, value = '' }) => [key, value]));
    const before = this.#tainted.get(name);
    if (taints.length === 0) {
      this.#tainted.delete(name);
      for (const key of before?.waiting.keys() ?? []) {
        if (node !== undefined) this.#reportStay(key);
        this.#due.delete(key);
      }
    } else if (text !== before?.text) {
      this.#tainted.set(name, { text, taints, waiting: before?.waiting ?? new Map() });
      this.#queue.add(podsOf + name);
    }
  }

  /** Works until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const onWritten = (next: Stored) => this.#podChanged(next, (_node, key) => this.#queue.add(key));
    const gone = (previous: Stored) => this.#podChanged(previous, (node, key) => this.#cancel(node, key));
    using _following = this.#pods.follow({ added: onWritten, changed: onWritten, gone });
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
    if (!key.startsWith(podsOf)) return await this.#checkPod(key);
    const node = key.slice(podsOf.length);
    const listing = await this.#pods.index('spec.nodeName')?.list(node, this.#pods.prefix(''), '');
    for (const pod of listing?.items ?? []) this.#queue.add(pod.key);
  }

  async #checkPod(key: string): Promise<void> {
    const stored = this.#options.storage.get(key);
    const pod = stored && this.#pods.encoding.read(stored);
    const node = this.#tainted.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined) return;
    const dueMs = this.#endOf(key, pod, node);
    if (dueMs === Number.POSITIVE_INFINITY) {
      this.#reportStay(key);
      return this.#cancel(node, key);
    }
    if (dueMs > this.#awake.nowMs) return this.#wait(key, dueMs);
    this.#mustBeReadable(key, pod.spec?.nodeName ?? '');
    await this.#evict(key, pod);
    this.#cancel(node, key);
  }

  /** The taints that count are those that a node has now. Throws, so that the pod is checked again later. */
  #mustBeReadable(key: string, nodeName: string): void {
    const { storage, registry } = this.#options;
    const places = [key, registry.of(nodeKind).prefix('') + nodeName];
    const unreadable = places.find((place) => isUnreadable(storage, place));
    if (unreadable !== undefined) throw new Error(`it is not evicted while ${unreadable} cannot be read`);
  }

  /** When a pod is to be evicted from its node. */
  #endOf(key: string, { metadata, spec }: Pod, { taints, waiting }: TaintedNode): number {
    if (metadata?.deletionTimestamp !== undefined) return Number.POSITIVE_INFINITY; // it is being deleted
    const seconds = computeToleratedSeconds(taints, spec?.tolerations ?? []);
    if (seconds === Number.POSITIVE_INFINITY) return seconds;
    const sinceMs = waiting.get(key) ?? this.#awake.nowMs;
    waiting.set(key, sinceMs);
    return sinceMs + seconds * 1000;
  }

  #wait(key: string, dueMs: number): void {
    this.#due.set(key, dueMs);
    this.#sooner.abort();
  }

  /** Records an Event for a pod whose eviction was planned. */
  #reportStay(key: string): void {
    const stored = this.#due.has(key) ? this.#options.storage.get(key) : undefined;
    const metadata = stored && this.#pods.encoding.read(stored).metadata;
    if (metadata !== undefined && metadata.deletionTimestamp === undefined) {
      this.#options.events.podStays(metadata);
    }
  }

  #cancel({ waiting }: TaintedNode, key: string): void {
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
