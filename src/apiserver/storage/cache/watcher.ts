/**
 * One watch. It starts `cold` (it sends the initial objects, or changes that only history still has), then is `live` and
 * takes its events from the lane, and at last is `ended`:
 *
 *     cold ──► live ──► ended
 *       └────────────────▲
 *
 * It has no queue. While its sink is full it stays at its revision. When events after that revision leave memory, or the
 * sink stays full too long, it is ended; other watches are not affected.
 */
import type { Change, Revision, Stored } from '../types.ts';
import type { Lane } from './lane.ts';
import type { EventEncoding, Sink, Watch, WatchEnd } from './types.ts';
import { encodeChange, resolveEventType } from './watch-event.ts';

/** Events in one push. */
const maxPushed = 256;

/** Shared by all watchers of a cache. */
export interface WatcherHost {
  /** The cache's revision. */
  readonly applied: () => Revision;
  /** Resolves with true when a sink was full for too long, with false when `signal` aborts before. */
  readonly stalled: (signal: AbortSignal) => Promise<boolean>;
  readonly onError: (error: unknown, prefix: string) => void;
  readonly onEnd: (watcher: Watcher) => void;
}

export interface WatcherOptions {
  readonly lane: Lane;
  readonly prefix: string;
  readonly match: (object: Stored) => boolean;
  readonly encoding: EventEncoding;
  readonly sink: Sink;
  readonly host: WatcherHost;
}

export class Watcher implements Watch {
  readonly #options: WatcherOptions;
  /** Created when `signal` is first read: most watches start without a wait, and then there is nothing to abort. */
  #abort: AbortController | undefined;
  #phase: 'cold' | 'live' | 'ended' = 'cold';
  /** Set while the sink is full. */
  #full: PromiseWithResolvers<void> | undefined;
  #stall: AbortController | undefined;
  /** Everything up to this revision was pushed, or is not to be pushed. */
  position: Revision = 0;

  constructor(options: WatcherOptions) {
    this.#options = options;
    options.lane.add(this); // from the start: a lane without watchers may be dropped
  }

  /** Aborts when the watch has ended. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.ended) this.#abort.abort();
    return this.#abort.signal;
  }

  get ended(): boolean {
    return this.#phase === 'ended';
  }

  /** Whether memory holds everything that follows. */
  get inReach(): boolean {
    return this.position >= this.#options.lane.floor;
  }

  /** Only while `inReach`: from now on the lane feeds the watch. */
  goLive(): void {
    if (this.#phase !== 'cold') return;
    this.#phase = 'live';
    this.pull();
  }

  /** Takes from the lane what the sink can take. */
  pull(): void {
    if (this.#phase !== 'live') return;
    if (!this.inReach) {
      this.end('slow');
      return;
    }
    while (this.#full === undefined && !this.ended) {
      const events = this.#options.lane.after(this.position, maxPushed);
      const last = events.at(-1);
      if (last === undefined) return;
      this.position = last.revision; // before the push, from which the sink may call back
      this.#offer(() => {
        const frames: Uint8Array[] = [];
        for (const event of events) {
          const type = this.#typeOf(event.change);
          if (type !== undefined) frames.push(event.frame(type, this.#options.encoding));
        }
        return frames;
      });
    }
  }

  start(): void {
    this.#guard(() => this.#options.sink.start());
  }

  /** Pushes changes that are not in memory as events. */
  offerChanges(changes: readonly Change[]): void {
    const { encoding } = this.#options;
    this.#offer(() =>
      changes.flatMap((change) => {
        const type = this.#typeOf(change);
        return type === undefined ? [] : [encodeChange(change, type, encoding)];
      }),
    );
  }

  /** Pushes objects as ADDED. */
  offerObjects(objects: readonly Stored[]): void {
    const { match, encoding } = this.#options;
    this.#offer(() => {
      const matching = objects.filter(match);
      if (matching.length === 0) return [];
      return encoding.added?.(matching) ?? matching.map((object) => encoding.event('ADDED', object));
    });
  }

  offerBookmark(revision: Revision, initialEventsEnd: boolean): void {
    this.#offer(() => [this.#options.encoding.bookmark(revision, initialEventsEnd)]);
  }

  /** Resolves when the sink can take more or the watch has ended. */
  async room(): Promise<void> {
    await this.#full?.promise;
  }

  resume(): void {
    this.#stall?.abort();
    this.#stall = undefined;
    this.#full?.resolve();
    this.#full = undefined;
    this.pull();
  }

  bookmark(): void {
    this.pull();
    if (this.#phase !== 'live' || this.#full !== undefined) return;
    const applied = this.#options.host.applied();
    if (applied >= this.position) this.offerBookmark(applied, false); // a watch may start in the future
  }

  end(why: WatchEnd): void {
    if (this.ended) return;
    this[Symbol.dispose]();
    try {
      this.#options.sink.end(why);
    } catch (error) {
      this.#failed(error);
    }
  }

  [Symbol.dispose](): void {
    if (this.ended) return;
    this.#phase = 'ended';
    this.#options.lane.remove(this);
    this.#stall?.abort();
    this.#full?.resolve();
    this.#abort?.abort();
    this.#options.host.onEnd(this);
  }

  #failed(error: unknown): void {
    this.#options.host.onError(error, this.#options.prefix);
  }

  #typeOf(change: Change) {
    if (!change.key.startsWith(this.#options.prefix)) return undefined;
    return resolveEventType(change, this.#options.match);
  }

  #offer(makeFrames: () => readonly Uint8Array[]): void {
    this.#guard(() => {
      const frames = makeFrames();
      if (frames.length > 0 && !this.#options.sink.push(frames)) this.#becomeFull();
    });
  }

  #becomeFull(): void {
    if (this.ended || this.#full !== undefined) return;
    this.#full = Promise.withResolvers<void>();
    const stall = new AbortController();
    this.#stall = stall;
    void this.#options.host.stalled(stall.signal).then((tooLong) => {
      if (tooLong) this.end('slow');
    });
  }

  /** A selector, an encoding or a sink that throws ends its own watch and nothing else. */
  #guard(work: () => void): void {
    if (this.ended) return;
    try {
      work();
    } catch (error) {
      this.#failed(error);
      this.end('failed');
    }
  }
}
