import type { Clock, Logger } from '../../../base/index.ts';
import type { Change, Revision, Stored } from '../types.ts';
import { StorageError } from '../types.ts';
import type { StartSource } from './cold-start.ts';
import { coldStart } from './cold-start.ts';
import type { LaneBounds } from './lanes.ts';
import { Lanes } from './lanes.ts';
import type { EventEncoding, Sink, Watch, WatchEnd, WatchStart } from './types.ts';
import type { WatcherHost } from './watcher.ts';
import { Watcher } from './watcher.ts';

export interface WatchesOptions {
  readonly source: StartSource;
  readonly clock: Clock;
  readonly log: Logger;
  /** A watcher whose sink is full for this time is ended. */
  readonly stallMs: number;
  /** Bounds of the recent events in memory. */
  readonly recent: LaneBounds;
}

/** All watches of a cache with the recent events that feed them. */
export class Watches implements Disposable {
  readonly #options: WatchesOptions;
  readonly #lanes: Lanes;
  readonly #watchers = new Set<Watcher>();
  readonly #host: WatcherHost;
  /** Why new watches end at once. */
  #over: WatchEnd | undefined;

  constructor(options: WatchesOptions) {
    const { source, clock, log, stallMs, recent } = options;
    this.#options = options;
    this.#lanes = new Lanes(recent);
    this.#host = {
      applied: source.applied,
      stalled: async (signal) => {
        await clock.sleep(stallMs, signal);
        return !signal.aborted;
      },
      onError: (error, prefix) => log.error({ err: error, prefix }, 'a watch failed'),
      onEnd: (ended) => {
        this.#watchers.delete(ended);
        this.#lanes.tidy();
      },
    };
  }

  open(
    prefix: string,
    start: WatchStart,
    match: (object: Stored) => boolean,
    encoding: EventEncoding,
    sink: Sink,
  ): Watch {
    const lane = this.#lanes.laneOf(prefix, this.#host.applied());
    const watcher = new Watcher({ lane, prefix, match, encoding, sink, host: this.#host });
    this.#watchers.add(watcher);
    void this.#start(watcher, prefix, start);
    return watcher;
  }

  /** `before`: the cache's revision before this change. */
  append(change: Change, before: Revision): void {
    this.#lanes.append(change, before);
  }

  /** Forgets all events and ends all watches: there is a gap between the events so far and the next ones. */
  expire(): void {
    this.#lanes.clear();
    this.#endAll('expired');
  }

  /** Ends all watches, also future ones; the reason of the first call counts. */
  stop(why: WatchEnd): void {
    this.#over ??= why;
    this.#endAll(why);
  }

  [Symbol.dispose](): void {
    this.#lanes[Symbol.dispose]();
  }

  async #start(watcher: Watcher, prefix: string, start: WatchStart): Promise<void> {
    try {
      await Promise.resolve(); // the sink is not called before the caller has its watch
      if (this.#over !== undefined) watcher.end(this.#over);
      await coldStart(watcher, prefix, start, this.#options.source);
    } catch (error) {
      if (!watcher.ended) this.#options.log.warn({ err: error, prefix }, 'a watch could not be started');
      watcher.end(isTemporary(error) ? 'unavailable' : 'failed');
    }
  }

  #endAll(why: WatchEnd): void {
    for (const watcher of [...this.#watchers]) watcher.end(why);
  }
}

/** Whether the same watch can be started later. */
function isTemporary(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'unavailable';
}
