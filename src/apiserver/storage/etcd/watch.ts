import type { Clock } from '../../../base/index.ts';
import type { Revision } from '../types.ts';
import type { Event } from './gen/kv_pb.js';
import type { WatchResponse } from './gen/rpc_pb.js';
import { revisionOf } from './values.ts';
import type { Connection } from './wire/connection.ts';
import { EtcdError } from './wire/errors.ts';
import type { KeyRange, WatchCall } from './wire/watch-call.ts';

/** Everything that happened up to and with `through`; none of it in what comes later. */
export interface Heard {
  readonly events: readonly Event[];
  readonly through: Revision;
}

/** How often a question about progress is put again while it is not answered. */
const askMs = 50;

export interface EtcdWatchOptions {
  readonly connection: Connection;
  readonly range: KeyRange;
  /** What came after it is of interest. */
  readonly after: Revision;
  readonly clock: Clock;
  /** How long it may say nothing though it was asked. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/**
 * One watch of etcd: pieces whose revisions are whole and in order. It must be asked for progress (`want`) to tell of
 * revisions at which nothing in its range has changed.
 */
export class EtcdWatch {
  readonly #options: EtcdWatchOptions;
  readonly #call: WatchCall;
  readonly #stop = new AbortController();
  /** Of the revision that may go on in the next answer. */
  #held: Event[] = [];
  #through: Revision;
  #wanted = 0;
  /** Before, an answer about progress could overtake the events that etcd holds back until then. */
  #isCreated = false;
  #isAsking = false;
  #silent = false;

  constructor(options: EtcdWatchOptions) {
    this.#options = options;
    this.#through = options.after;
    this.#call = options.connection.watch();
  }

  /** Sees to it that `heard` comes to this revision, once etcd has. */
  want(revision: Revision): void {
    this.#wanted = Math.max(this.#wanted, revision);
    if (this.#wanted > this.#through && !this.#isAsking) void this.#ask();
  }

  /**
   * Ends with the signal, or when etcd ends the watch; `compacted` is the last element when history does not reach back
   * far enough. Throws an EtcdError when the connection fails or falls silent.
   */
  async *heard(): AsyncGenerator<Heard | 'compacted', void> {
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
        const heard = this.#take(response);
        if (heard !== undefined) yield heard;
      }
    } catch (error) {
      if (signal.aborted) return;
      throw this.#silent ? this.#silence(error) : error;
    } finally {
      this.#stop.abort();
      any.removeEventListener('abort', end);
      end();
    }
  }

  #take({ created, events, fragment, header }: WatchResponse): Heard | undefined {
    if (created) {
      this.#isCreated = true;
      return undefined;
    }
    if (events.length === 0) return this.#come([], revisionOf(header?.revision));
    const all = [...this.#held, ...events];
    this.#held = [];
    const through = revisionOf(all.at(-1)?.kv?.modRevision);
    if (!fragment) return this.#come(all, through);
    // what has the last revision of a piece that goes on may go on too
    const whole = all.filter(({ kv }) => revisionOf(kv?.modRevision) < through);
    this.#held = all.slice(whole.length);
    const last = whole.at(-1);
    return last === undefined ? undefined : this.#come(whole, revisionOf(last.kv?.modRevision));
  }

  #come(events: readonly Event[], through: Revision): Heard | undefined {
    if (events.length === 0 && through <= this.#through) return undefined;
    this.#through = Math.max(this.#through, through);
    return { events, through: this.#through };
  }

  /** Until the watch is as far as wanted. */
  async #ask(): Promise<void> {
    const { clock, silenceMs } = this.#options;
    this.#isAsking = true;
    const { signal } = this.#stop;
    let at = this.#through;
    let movedMs = clock.monotonicMs();
    await clock.sleep(2, signal); // mostly what is wanted is on its way
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

  #silence(cause: unknown): EtcdError {
    const { connection, silenceMs } = this.#options;
    const why = `its watch came no further within ${silenceMs} ms although it was asked`;
    return new EtcdError('unknown', `etcd at ${connection.endpoint.url} is silent: ${why}`, { cause });
  }
}
