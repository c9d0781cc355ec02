import type { Node, Pod, Taint } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import { untilAborted } from '../../../base/index.ts';
import type { Change } from '../../storage/index.ts';
import { namedNodes } from '../named-nodes.ts';
import type { ControllerOptions } from '../namespace-deletion.ts';
import { createWorkQueue } from '../work-queue.ts';
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

export interface PodEvictions {
  /** Tells how a node is now; undefined: it is gone, and its pods are others' business. */
  nodeChanged(name: string, node: Node | undefined): void;
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface TaintedNode {
  /** The taints that count, as text. */
  text: string;
  taints: readonly Taint[];
  /** Since when each of its pods waits for its end, by key; AwakeTime. */
  waiting: Map<string, number>;
}

/** Evictions at once: enough to share the store's group commits. */
const atOnce = 8;
const leastSleepMs = 100;
/** There is no pod of such a key. */
const podsOf = 'pods of ';

export function podEvictions(
  options: ControllerOptions & { tell: Pick<Telling, 'podEvicted' | 'podStays'> },
  awake: AwakeTime,
): PodEvictions {
  const { registry, storage, clock, log, tell } = options;
  const pods = registry.of(podKind);
  const prefix = pods.prefix('');
  const tainted = new Map<string, TaintedNode>();
  const due = new DueTimes();
  const queue = createWorkQueue({ work, atOnce, clock, log });
  const evict = podEvictor(options, (key) => queue.add(key));
  let sooner = new AbortController();

  async function work(key: string): Promise<void> {
    if (!key.startsWith(podsOf)) return await look(key);
    const listing = await pods.index('spec.nodeName')?.list(key.slice(podsOf.length), prefix, '');
    for (const pod of listing?.items ?? []) queue.add(pod.key);
  }

  async function look(key: string): Promise<void> {
    const stored = storage.get(key);
    const pod = stored && pods.encoding.read(stored);
    const node = tainted.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined) return;
    const dueMs = endOf(key, pod, node);
    if (dueMs === Number.POSITIVE_INFINITY) {
      tellOfStay(key);
      return stay(node, key);
    }
    if (dueMs > awake.nowMs) return wait(key, dueMs);
    await evict(key, pod);
    stay(node, key);
  }

  /** When a pod has to go from its node. */
  function endOf(key: string, { metadata, spec }: Pod, { taints, waiting }: TaintedNode): number {
    if (metadata?.deletionTimestamp !== undefined) return Number.POSITIVE_INFINITY; // it goes
    const seconds = toleratedSeconds(taints, spec?.tolerations ?? []);
    if (seconds === Number.POSITIVE_INFINITY) return seconds;
    const sinceMs = waiting.get(key) ?? awake.nowMs;
    waiting.set(key, sinceMs);
    return sinceMs + seconds * 1000;
  }

  function wait(key: string, dueMs: number): void {
    due.set(key, dueMs);
    sooner.abort();
  }

  /** Where a pod was to go in time. */
  function tellOfStay(key: string): void {
    const stored = due.has(key) ? storage.get(key) : undefined;
    const metadata = stored && pods.encoding.read(stored).metadata;
    if (metadata !== undefined && metadata.deletionTimestamp === undefined) tell.podStays(metadata);
  }

  function stay({ waiting }: TaintedNode, key: string): void {
    waiting.delete(key);
    due.delete(key);
  }

  function podChanged({ key, previous, next }: Change): void {
    if (tainted.size === 0 || !key.startsWith(prefix)) return;
    const state = next ?? previous;
    for (const name of state === null ? [] : namedNodes(state)) {
      const node = tainted.get(name);
      if (node !== undefined && next === null) stay(node, key);
      else if (node !== undefined) queue.add(key);
    }
  }

  async function wakeInTime(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const key of due.take(awake.nowMs)) queue.add(key);
      sooner = new AbortController();
      const either = AbortSignal.any([signal, sooner.signal]);
      const { nextMs } = due;
      if (nextMs === undefined) await untilAborted(either);
      else await clock.sleep(Math.max(leastSleepMs, nextMs - awake.nowMs), either);
    }
  }

  return {
    nodeChanged(name, node) {
      const taints = (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
      const text = JSON.stringify(taints.map(({ key, value = '' }) => [key, value]));
      const before = tainted.get(name);
      if (taints.length === 0) {
        tainted.delete(name);
        for (const key of before?.waiting.keys() ?? []) {
          if (node !== undefined) tellOfStay(key);
          due.delete(key);
        }
      } else if (text !== before?.text) {
        tainted.set(name, { text, taints, waiting: before?.waiting ?? new Map() });
        queue.add(podsOf + name);
      }
    },
    async run(signal) {
      using _listener = storage.onApply(podChanged);
      await Promise.all([queue.run(signal), wakeInTime(signal)]);
    },
  };
}
