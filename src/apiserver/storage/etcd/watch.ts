import type { Clock } from '../../../base/index.ts';
import type { Revision } from '../types.ts';
import type { Event } from './gen/kv_pb.js';
import type { WatchResponse } from './gen/rpc_pb.js';
import { revisionOf } from './values.ts';
import type { Connection } from './wire/connection.ts';
import { EtcdError } from './wire/errors.ts';
import type { KeyRange, WatchCall } from './wire/watch-call.ts';

/** All events up to and including `through` that were not in earlier batches. */
export interface EventBatch {
  readonly events: readonly Event[];
  readonly through: Revision;
}

/** How often progress is requested again while there is no answer. */
const askMs = 50;

export interface EtcdWatchOptions {
  readonly connection: Connection;
  readonly range: KeyRange;
  /** Only events after this revision are read. */
  readonly after: Revision;
  readonly clock: Clock;
  /** How long it may be silent although progress was requested. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * One watch of etcd, as batches of whole revisions in order. It reports revisions without changes in its range only when
 * they are requested (`want`).
 */
export class EtcdWatch {
  readonly #options: EtcdWatchOptions;
  readonly #call: WatchCall;
  readonly #stop = new AbortController();
  /** Events of a revision that may continue in the next response. */
  #incomplete: Event[] = [];
  #through: Revision;
  #wanted = 0;
  /** Before that, a progress response could overtake the events that etcd holds back until then. */
  #isCreated = false;
  #isAsking = false;
  #silent = false;

  constructor(options: EtcdWatchOptions) {
    this.#options = options;
    this.#through = options.after;
    this.#call = options.connection.watch();
  }

  /** Makes sure that `batches` reaches this revision, once etcd has reached it. */
  want(revision: Revision): void {
    this.#wanted = Math.max(this.#wanted, revision);
    if (this.#wanted > this.#through && !this.#isAsking) void this.#ask();
  }

  /**
   * Ends with the signal, or when etcd ends the watch; `compacted` is the last element when history does not reach back
   * far enough. Throws an EtcdError when the connection fails or falls silent.
   */
  async *batches(): AsyncGenerator<EventBatch | 'compacted', void> {
    const { signal, range, after, connection } = this.#options;
    const end = () => this.#call[Symbol.dispose]();
    const any = AbortSignal.any([signal, connection.lost]);
    any.addEventListener('abort', end, { once: true });
    try {
      if (any.aborted) return;
      this.#call.begin(range, after + 1);
      for await (const response of this.#call.responses) {
        if (response.canceled) {
          if (response.compactRevision > 0n) yield 'compacted';
          return;
        }
        const batch = this.#take(response);
        if (batch !== undefined) yield batch;
      }
    } catch (error) {
      if (signal.aborted) return;
      throw this.#silent ? this.#silenceError(error) : error;
    } finally {
      this.#stop.abort();
      any.removeEventListener('abort', end);
      end();
    }
  }

  #take({ created, events, fragment, header }: WatchResponse): EventBatch | undefined {
    if (created) {
      this.#isCreated = true;
      return undefined;
    }
    if (events.length === 0) return this.#advance([], revisionOf(header?.revision));
    const all = [...this.#incomplete, ...events];
    this.#incomplete = [];
    const through = revisionOf(all.at(-1)?.kv?.modRevision);
    if (!fragment) return this.#advance(all, through);
    // more events of the last revision may follow in the next fragment
    const whole = all.filter(({ kv }) => revisionOf(kv?.modRevision) < through);
    this.#incomplete = all.slice(whole.length);
    const last = whole.at(-1);
    return last === undefined ? undefined : this.#advance(whole, revisionOf(last.kv?.modRevision));
  }

  #advance(events: readonly Event[], through: Revision): EventBatch | undefined {
    if (events.length === 0 && through <= this.#through) return undefined;
    this.#through = Math.max(this.#through, through);
    return { events, through: this.#through };
  }

  /** Requests progress until the watch is as far as wanted. */
  async #ask(): Promise<void> {
    const { clock, silenceMs } = this.#options;
    this.#isAsking = true;
    const { signal } = this.#stop;
    let at = this.#through;
    let movedMs = clock.monotonicMs();
    await clock.sleep(2, signal); // mostly the wanted revision is already on its way
    while (!signal.aborted && this.#wanted > this.#through) {
      if (this.#through > at) movedMs = clock.monotonicMs();
      at = this.#through;
      if (clock.monotonicMs() - movedMs > silenceMs) {
        this.#silent = true;
        this.#call[Symbol.dispose]();
        break;
      }
      if (this.#isCreated) this.#call.askProgress();
      await clock.sleep(askMs, signal);
    }
    this.#isAsking = false;
  }

  #silenceError(cause: unknown): EtcdError {
    const { connection, silenceMs } = this.#options;
    const why = `its watch came no further within ${silenceMs} ms although it was asked`;
    return new EtcdError('unknown', `etcd at ${connection.endpoint.url} is silent: ${why}`, { cause });
  }
}
