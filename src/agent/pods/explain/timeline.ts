import type { Clock } from '../../../base/index.ts';

export interface TimelineEntry {
  /** When it happened last, milliseconds of the wall clock. */
  readonly atMs: number;
  /** When it happened first; another time only where it was repeated. */
  readonly sinceMs: number;
  readonly what: string;
  /** How often in a row. */
  readonly count: number;
}

const maxEntries = 50;
const maxTextLength = 500;
/** Far more than a node may have; the oldest ones are forgotten. */
const maxPods = 2000;

/**
 * What happened to each pod, in order. What is repeated, alone or in turn with something else, is counted and takes the
 * last place; of a pod with too many entries the oldest are forgotten.
 */
export class PodTimeline {
  readonly #clock: Pick<Clock, 'now'>;
  /** By uid, then by what happened; maps keep the order in which entries were set. */
  readonly #pods = new Map<string, Map<string, TimelineEntry>>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(uid: string, what: string): void {
    const text = what.length > maxTextLength ? `${what.slice(0, maxTextLength - 1)}…` : what;
    const entries = this.#entriesOf(uid);
    const atMs = this.#clock.now();
    const earlier = entries.get(text);
    entries.delete(text);
    entries.set(text, {
      atMs,
      sinceMs: earlier?.sinceMs ?? atMs,
      what: text,
      count: (earlier?.count ?? 0) + 1,
    });
    const [oldest] = entries.keys();
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
  }

  /** The oldest first. */
  entries(uid: string): readonly TimelineEntry[] {
    return [...(this.#pods.get(uid)?.values() ?? [])];
  }

  forget(uid: string): void {
    this.#pods.delete(uid);
  }

  #entriesOf(uid: string): Map<string, TimelineEntry> {
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const entries = new Map<string, TimelineEntry>();
    this.#pods.set(uid, entries);
    const [oldest] = this.#pods.keys();
    if (this.#pods.size > maxPods && oldest !== undefined) this.#pods.delete(oldest);
    return entries;
  }
}
