import { formatTime, StatusError } from '../../api/index.ts';
import type { Clock, Logger, TokenBuckets } from '../../base/index.ts';
import { BoundedMap, createTokenBuckets, describeError } from '../../base/index.ts';
import type { Draft } from './draft.ts';
import { draftKey, eventName, eventOf, mergeDrafts, namespaceOf, shortened } from './draft.ts';
import type { EventOutcome, EventRecorder, EventWriter, Happening, Subject } from './types.ts';

/*
 * Events are written beside the work, never in its way: recording never waits. What happens again to the same
 * object counts up the Event that is there.
 *
 *     record ──(limits by object)──► queue, merged by what it says ──► writers ──► written: its name, to count up
 *
 * While the API takes no Events they stay in the queue, up to a bound; after that the oldest is dropped, for what
 * happened last is what counts.
 */

export interface EventRecorderOptions {
  readonly writer: EventWriter;
  /** The node of who reports, where it runs on one. */
  readonly host?: string;
  readonly maxQueued: number;
  /** How many objects are remembered for their limits, and how many Events to be counted up. */
  readonly maxRemembered: number;
  /** How many are written at a time. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with what came of Events. */
  readonly onOutcome?: (outcome: EventOutcome, count: number) => void;
}

/** About one object, as in the reference: so many may follow at once, and one more every five minutes. */
const eventRate = { burst: 25, refillMs: 300_000 };
/** As the reference waits for a server that takes no Events. */
const retryMs = 10_000;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new Recorder(options);
}

class Recorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #limits: TokenBuckets;
  /** Names of Events that can be counted up, and their counts. */
  readonly #written: BoundedMap<string, { name: string; count: number }>;
  #queue = new Map<string, Draft>();
  /** Since that was logged. */
  #dropped = 0;
  #wake = Promise.withResolvers<void>();

  constructor(options: EventRecorderOptions) {
    const { maxRemembered } = options;
    this.#options = options;
    this.#limits = createTokenBuckets({ ...eventRate, maxKeys: maxRemembered });
    this.#written = new BoundedMap({ maxEntries: maxRemembered });
  }

  record(component: string, subject: Subject, given: Happening): void {
    const { clock } = this.#options;
    if (!this.#limits.take(`${component} ${subject.kind} ${subject.uid}`, clock.monotonicMs())) {
      this.#count('limited');
      return;
    }
    const happening = { ...given, message: shortened(given.message) };
    const key = draftKey(component, subject, happening);
    const nowMs = clock.now();
    const draft = { component, subject, happening, count: 1, firstMs: nowMs, lastMs: nowMs };
    const known = this.#queue.get(key);
    this.#queue.set(key, known === undefined ? draft : mergeDrafts(known, draft));
    this.#dropOldest();
    this.#wake.resolve();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    while (!signal.aborted) {
      const results = await Promise.all(this.#next().map(([key, draft]) => this.#write(key, draft, signal)));
      if (results.includes(false)) await clock.sleep(retryMs, signal);
      if (this.#queue.size > 0) continue;
      if (this.#dropped > 0) {
        const { maxQueued } = this.#options;
        log.warn(
          { dropped: this.#dropped, maxQueued },
          'more Events than can be kept: the oldest are not written',
        );
      }
      this.#dropped = 0;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  #next(): [string, Draft][] {
    const batch = [...this.#queue.entries().take(this.#options.concurrency)];
    for (const [key] of batch) this.#queue.delete(key);
    return batch;
  }

  /** Whether the API takes Events. */
  async #write(key: string, draft: Draft, signal: AbortSignal): Promise<boolean> {
    try {
      if (!(await this.#countUp(key, draft, signal))) await this.#create(key, draft, signal);
      this.#count('written');
      return true;
    } catch (error) {
      const { subject, happening } = draft;
      const object = `${subject.kind} ${subject.namespace}/${subject.name}`;
      this.#options.log.debug({ object, event: happening.reason }, `no Event: ${describeError(error)}`);
      if (isFinal(error)) {
        this.#written.delete(key);
        this.#count('refused');
        return true;
      }
      this.#queueAgain(key, draft);
      return false;
    }
  }

  async #countUp(key: string, draft: Draft, signal: AbortSignal): Promise<boolean> {
    const known = this.#written.use(key);
    if (known === undefined) return false;
    const count = known.count + draft.count;
    const place = { namespace: namespaceOf(draft.subject), name: known.name };
    try {
      await this.#options.writer.countUp(
        { ...place, count, lastTimestamp: formatTime(draft.lastMs) },
        signal,
      );
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return false; // it has expired
      throw error;
    }
    known.count = count;
    return true;
  }

  async #create(key: string, draft: Draft, signal: AbortSignal): Promise<void> {
    const { writer, host } = this.#options;
    const name = eventName(draft, host);
    try {
      await writer.create(eventOf(name, draft, host), signal);
      this.#written.set(key, { name, count: draft.count });
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
      await this.#takeUp(key, name, draft, signal);
    }
  }

  /** Counts up an Event that was written before this recorder was made, or by one whose answer was lost. */
  async #takeUp(key: string, name: string, draft: Draft, signal: AbortSignal): Promise<void> {
    const place = { namespace: namespaceOf(draft.subject), name };
    const there = await this.#options.writer.read(place, signal);
    if (there === undefined) throw new Error(`Event ${name} has expired meanwhile`); // it is made at the next try
    const { count = 1, lastTimestamp } = there;
    this.#written.set(key, { name, count });
    const isThis = count === draft.count && lastTimestamp === formatTime(draft.lastMs);
    if (!isThis) await this.#countUp(key, draft, signal);
  }

  /** At the front: it is the oldest. */
  #queueAgain(key: string, draft: Draft): void {
    const newer = this.#queue.get(key);
    this.#queue.delete(key);
    this.#queue = new Map([[key, newer === undefined ? draft : mergeDrafts(draft, newer)], ...this.#queue]);
    this.#dropOldest();
  }

  #dropOldest(): void {
    const over = this.#queue.size - this.#options.maxQueued;
    if (over <= 0) return;
    for (const key of this.#queue.keys().take(over)) this.#queue.delete(key);
    this.#dropped += over;
    this.#count('dropped', over);
  }

  #count(outcome: EventOutcome, count = 1): void {
    this.#options.onOutcome?.(outcome, count);
  }
}

/** Refused for what it is, such as one in a namespace that is going; to send it again would change nothing. */
function isFinal(error: unknown): boolean {
  return error instanceof StatusError && error.code < 500 && error.code !== 429 && error.code !== 401;
}
