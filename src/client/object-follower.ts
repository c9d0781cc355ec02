import type { ApiObject, Kind } from '../api/index.ts';
import { StatusError } from '../api/index.ts';
import type { Backoff, Clock, Semaphore, Waker } from '../base/index.ts';
import { createBackoff, createWaker } from '../base/index.ts';
import type { ApiClient } from './api-client.ts';
import { retryAfterMs } from './outage.ts';

export interface ObjectFollowerOptions<T extends ApiObject> {
  readonly api: Pick<ApiClient, 'list' | 'watch'>;
  readonly kind: Kind<T>;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  /** No more pages are asked for when a list has so many. */
  readonly maxObjects: number;
  /** Objects asked for at a time; default 500. */
  readonly pageSize?: number;
  /** No more pages are asked for either, when this is so. */
  isEnough?(objects: readonly T[]): boolean;
  /** A watch is opened again after this time at the latest, and after half of it at the earliest; default 600. */
  readonly maxWatchSeconds?: number;
  /** Of many followers, how many list or open a watch at a time. */
  readonly starts?: Semaphore;
  /** Takes everything there is, in place of what was known. */
  onList(objects: readonly T[]): void;
  onChange(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** The API has answered: before each `onList`, and for everything that comes over a watch. */
  onAnswer?(): void;
  /** Takes why it does not go on, each time; it tries on. What a new list repairs is no failure. */
  onFailure?(error: unknown): void;
  readonly clock: Clock;
  /** Default Math.random. */
  readonly random?: () => number;
}

const defaultPageSize = 500;
/** Bookmarks come every minute: a watch that is silent for longer has lost its server. */
const idleTimeoutMs = 150_000;
const defaultMaxWatchSeconds = 600;
const waits = { initialMs: 500, maxMs: 30_000, jitter: 0.3 };

/**
 * Follows objects of the API: lists them, then watches from there, and goes on where it was when a watch ends. Lists again when
 * the API has forgotten that version. Tries for ever, with growing waits between the tries that bring nothing.
 */
export class ObjectFollower<T extends ApiObject> {
  readonly #options: ObjectFollowerOptions<T>;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #waker: Waker;
  /** Where the next watch starts; undefined: it is listed first. */
  #resourceVersion: string | undefined;

  constructor(options: ObjectFollowerOptions<T>) {
    const { clock, random = Math.random } = options;
    this.#options = options;
    this.#random = random;
    this.#backoff = createBackoff({ ...waits, random });
    this.#waker = createWaker(clock);
  }

  /** Tries at once, if it waits after a failure. */
  wake(): void {
    this.#backoff.reset();
    this.#waker.wake();
  }

  /** Resolves when `signal` aborts; never rejects. May be called again then: it goes on where it was. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let minWaitMs = 0;
      try {
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        minWaitMs = retryAfterMs(error);
        if (isExpired(error)) this.#resourceVersion = undefined;
        else this.#options.onFailure?.(error);
      }
      await this.#waker.sleep(Math.max(minWaitMs, this.#backoff.next()), signal);
    }
  }

  /** One watch, from its start to its end. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { api, kind, starts, onAnswer, onChange } = this.#options;
    using slot = new DisposableStack();
    if (starts !== undefined) slot.use(await starts.acquire(signal));
    if (this.#resourceVersion === undefined) await this.#list(signal);
    if (signal.aborted) return;
    const onOpened = () => slot.dispose();
    for await (const event of api.watch(kind, { ...this.#watchOptions(), onOpened, signal })) {
      onOpened();
      onAnswer?.();
      this.#backoff.reset();
      const { type, object } = event;
      this.#resourceVersion = object.metadata?.resourceVersion ?? this.#resourceVersion;
      if (type !== 'BOOKMARK') onChange(type, object);
    }
  }

  #watchOptions() {
    const { maxWatchSeconds = defaultMaxWatchSeconds } = this.#options;
    const resourceVersion = this.#resourceVersion;
    return {
      ...this.#selection(),
      timeoutSeconds: Math.floor((maxWatchSeconds / 2) * (1 + this.#random())),
      ...{ allowWatchBookmarks: true, idleTimeoutMs },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { api, kind, maxObjects, pageSize = defaultPageSize, isEnough, onAnswer, onList } = this.#options;
    const all: T[] = [];
    let next: string | undefined;
    let resourceVersion: string | undefined;
    do {
      const page = await api.list(kind, {
        ...{ ...this.#selection(), limit: pageSize, signal },
        ...(next === undefined ? {} : { continue: next }),
      });
      all.push(...page.items);
      resourceVersion = page.metadata.resourceVersion;
      next = page.metadata.continue;
    } while (next && all.length < maxObjects && isEnough?.(all) !== true);
    this.#resourceVersion = resourceVersion;
    onAnswer?.();
    onList(all);
  }

  #selection(): { namespace?: string; fieldSelector?: string } {
    const { namespace, fieldSelector } = this.#options;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }
}

/** The changes since that resourceVersion are no longer available. */
function isExpired(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'Expired' || error.reason === 'Gone');
}
