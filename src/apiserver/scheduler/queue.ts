import type { PendingPod } from './cluster/pod-facts.ts';
import type { PendingCounts } from './metrics.ts';

/** A pod that waits for a node. */
export interface Waiting {
  pod: PendingPod;
  /** When it began to wait; wall clock. */
  readonly sinceMs: number;
  /** How often binding it failed. */
  failures: number;
  /** Which state of the cluster it was tried against last; undefined: none. */
  triedAt?: number | undefined;
  /** Not before this, monotonic; undefined: at any time. */
  notBeforeMs?: number | undefined;
  /** What was last said of why it waits. */
  reported: string;
}

/** As in the reference. */
const backoff = { firstMs: 1000, maxMs: 10_000 };

/** The pods that wait for a node: all of them, and which of them are to be tried, the most important first. */
export class SchedulingQueue {
  readonly #all = new Map<string, Waiting>();
  readonly #ready = new Set<Waiting>();
  /** Those that could not be bound, until they are ready again. */
  readonly #postponed = new Set<Waiting>();
  /** Those that are ready in order, from `#head` on; and some that are not any more. */
  #order: Waiting[] = [];
  #head = 0;

  get size(): number {
    return this.#all.size;
  }

  /** How many are to be tried, how many wait after a failed binding, and how many for a change. */
  get counts(): Omit<PendingCounts, 'gated'> {
    const [active, backoff] = [this.#ready.size, this.#postponed.size];
    return { active, backoff, unschedulable: this.#all.size - active - backoff };
  }

  /** Those that could not be bound and are not ready yet. */
  get postponed(): Iterable<Waiting> {
    return this.#postponed;
  }

  get(key: string): Waiting | undefined {
    return this.#all.get(key);
  }

  values(): Iterable<Waiting> {
    return this.#all.values();
  }

  /** Adds a pod, or takes over how it is now; it is to be tried unless it waits for what was before, too. */
  set(pod: PendingPod, nowMs: number): Waiting {
    const known = this.#all.get(pod.key);
    if (known?.pod.uid === pod.uid) {
      const isSame = known.pod.likeness === pod.likeness;
      known.pod = pod;
      if (!isSame) this.makeReady(known);
      return known;
    }
    const waiting: Waiting = {
      pod,
      sinceMs: createdMs(pod) ?? nowMs,
      failures: 0,
      reported: reportedOf(pod),
    };
    this.delete(pod.key);
    this.#all.set(pod.key, waiting);
    this.makeReady(waiting);
    return waiting;
  }

  delete(key: string): void {
    const waiting = this.#all.get(key);
    if (waiting === undefined) return;
    this.#all.delete(key);
    this.#ready.delete(waiting);
    this.#postponed.delete(waiting);
  }

  /** Does nothing for one that is ready. */
  makeReady(waiting: Waiting): void {
    if (this.#ready.has(waiting)) return;
    this.#postponed.delete(waiting);
    waiting.notBeforeMs = undefined;
    this.#ready.add(waiting);
    if (this.#order.length > 2 * this.#ready.size + minCompacted) this.#compact();
    this.#order.splice(this.#placeOf(waiting), 0, waiting);
  }

  /** Lets one wait that could not be bound, longer each time. */
  postpone(waiting: Waiting, failures: number, nowMs: number): void {
    this.#ready.delete(waiting);
    this.#postponed.add(waiting);
    waiting.failures = failures;
    waiting.notBeforeMs = nowMs + Math.min(backoff.maxMs, backoff.firstMs * 2 ** (failures - 1));
  }

  /** The most important one that is to be tried; of equal ones the oldest. It stays in the queue until `delete`. */
  next(): Waiting | undefined {
    while (this.#head < this.#order.length) {
      const waiting = this.#order[this.#head++];
      if (waiting !== undefined && this.#ready.delete(waiting)) return waiting;
    }
    this.#order = [];
    this.#head = 0;
    return undefined;
  }

  /** Drops those that are not ready any more: while nobody asks for the next, as another scheduler is at work, they would pile up. */
  #compact(): void {
    const isKept = new Set(this.#ready);
    this.#order = this.#order.slice(this.#head).filter((each) => isKept.delete(each));
    this.#head = 0;
  }

  /** Behind all that are at least as important: mostly the end, as the newest comes last. */
  #placeOf(waiting: Waiting): number {
    let [low, high] = [this.#head, this.#order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#order[middle];
      if (other !== undefined && compare(other, waiting) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Fewer are not worth the pass. */
const minCompacted = 1000;

function compare(a: Waiting, b: Waiting): number {
  return b.pod.priority - a.pod.priority || a.sinceMs - b.sinceMs;
}

/** What its condition says. */
function reportedOf({ pod }: PendingPod): string {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.reason === 'Unschedulable'
    ? reportedText(scheduled.message ?? '', pod.status?.nominatedNodeName)
    : '';
}

/** One text for both that is said. */
export function reportedText(message: string, nominatedNode: string | undefined): string {
  return `${message} ${nominatedNode ?? ''}`;
}

function createdMs({ pod }: PendingPod): number | undefined {
  return Date.parse(pod.metadata?.creationTimestamp ?? '') || undefined;
}
