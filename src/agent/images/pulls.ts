import { createHash } from 'node:crypto';
import type { Pod } from '../../api/index.ts';
import type { Clock, TokenBuckets } from '../../base/index.ts';
import { createTokenBuckets, describeError, Semaphore } from '../../base/index.ts';
import { RuntimeError } from '../runtime/index.ts';
import { withoutSecrets } from './credentials/redact.ts';
import type { Credential } from './credentials/types.ts';
import type { ImageCalls } from './image-calls.ts';

export interface PullSettings {
  /** How many images are pulled at once; undefined: however many. */
  readonly maxParallel: number | undefined;
  /** Pulls a second on average, and how many may come at once; a rate of 0 is no limit. */
  readonly ratePerSecond: number;
  readonly burst: number;
}

export interface PullRequest {
  /** With a tag or digest. */
  readonly image: string;
  /** Tried one after the other until one works; empty: without any. */
  readonly credentials: readonly Credential[];
  /** The pod that asks. */
  readonly pod: Pod;
}

/** A share in a pull. Disposing of it before the end says that its holder waits no more; the last one ends the pull. */
export interface PullShare extends Disposable {
  /** Whether it waits for other pulls. */
  readonly isQueued: boolean;
  /** Monotonic; undefined before it has started. */
  readonly startedMs: number | undefined;
  /** Calls `listener` when it starts, unless it has. */
  onStart(listener: () => void): void;
  /** Rejects with what the runtime says. */
  readonly done: Promise<PullResult>;
}

export interface PullResult {
  /** Without waiting. */
  readonly tookMs: number;
  /** What the registry let in; undefined: it was open. */
  readonly credential: Credential | undefined;
}

/** Pulls images: equal ones once, so many at a time, so many a second. */
export class Pulls {
  readonly #calls: ImageCalls;
  readonly #clock: Clock;
  readonly #slots: Semaphore;
  readonly #rate: TokenBuckets | undefined;
  readonly #maxParallel: number;
  readonly #running = new Map<string, SharedPull>();
  readonly #onEnded: ((result: 'done' | 'failed') => void) | undefined;

  /** `onEnded` is called with what came of each pull, but of those that nobody waited for any more. */
  constructor(
    calls: ImageCalls,
    { maxParallel, ratePerSecond, burst }: PullSettings,
    clock: Clock,
    onEnded?: (result: 'done' | 'failed') => void,
  ) {
    this.#onEnded = onEnded;
    this.#calls = calls;
    this.#clock = clock;
    this.#maxParallel = maxParallel ?? Number.POSITIVE_INFINITY;
    this.#slots = new Semaphore(() => this.#maxParallel);
    this.#rate =
      ratePerSecond > 0
        ? createTokenBuckets({ burst: Math.max(burst, 1), refillMs: 1000 / ratePerSecond, maxKeys: 1 })
        : undefined;
  }

  /** Starts a pull, or joins the one that is under way with the same credentials. */
  join(request: PullRequest): PullShare {
    const key = keyOf(request);
    let pull = this.#running.get(key);
    if (pull === undefined) {
      const isQueued = this.#running.size >= this.#maxParallel;
      const started = new SharedPull(isQueued, (self) => this.#count(request, self));
      pull = started;
      this.#running.set(key, started);
      started.onEnd(() => {
        if (this.#running.get(key) === started) this.#running.delete(key);
      });
    }
    return pull.join();
  }

  async #count(request: PullRequest, pull: SharedPull): Promise<PullResult> {
    try {
      const result = await this.#pull(request, pull);
      this.#onEnded?.('done');
      return result;
    } catch (error) {
      if (!pull.signal.aborted) this.#onEnded?.('failed');
      throw error;
    }
  }

  async #pull(request: PullRequest, pull: SharedPull): Promise<PullResult> {
    using _slot = await this.#slots.acquire(pull.signal);
    const startMs = this.#clock.monotonicMs();
    if (this.#rate?.take('', startMs) === false) throw new RuntimeError('failed', 'pull QPS exceeded');
    pull.start(startMs);
    const credential = await this.#tryCredentials(request, pull.signal);
    return { tookMs: this.#clock.monotonicMs() - startMs, credential };
  }

  /** Returns the one that was let in. */
  async #tryCredentials(
    { image, credentials, pod }: PullRequest,
    signal: AbortSignal,
  ): Promise<Credential | undefined> {
    const failures = new Set<string>();
    for (const credential of credentials.length === 0 ? [undefined] : credentials) {
      try {
        await this.#calls.pull(image, pod, credential, signal);
        return credential;
      } catch (error) {
        const message = withoutSecrets(describeError(error), credential);
        const reason = error instanceof RuntimeError ? error.reason : 'failed';
        // No `cause`: it has the message with what is secret in it.
        if (reason !== 'failed' && reason !== 'notFound') throw new RuntimeError(reason, message);
        failures.add(message);
      }
    }
    const [first = '', ...others] = failures;
    throw new RuntimeError('failed', others.length === 0 ? first : `[${[...failures].join(', ')}]`);
  }
}

class SharedPull {
  startedMs: number | undefined;
  readonly #mustWait: boolean;
  readonly #end = new AbortController();
  readonly #done: Promise<PullResult>;
  readonly #listeners: (() => void)[] = [];
  readonly #endListeners: (() => void)[] = [];
  #holders = 0;

  constructor(mustWait: boolean, pull: (self: SharedPull) => Promise<PullResult>) {
    this.#mustWait = mustWait;
    // After this constructor, so that `pull` finds everything there.
    this.#done = Promise.resolve().then(() => pull(this));
    const ended = () => this.#ended();
    this.#done.then(ended, ended);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  start(nowMs: number): void {
    this.startedMs = nowMs;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  onEnd(listener: () => void): void {
    this.#endListeners.push(listener);
  }

  join(): PullShare {
    this.#holders += 1;
    let isHeld = true;
    const startedMs = () => this.startedMs;
    const isQueued = () => this.#mustWait && this.startedMs === undefined;
    return {
      get isQueued() {
        return isQueued();
      },
      get startedMs() {
        return startedMs();
      },
      onStart: (listener) => void (this.startedMs === undefined && this.#listeners.push(listener)),
      done: this.#done,
      [Symbol.dispose]: () => {
        if (isHeld) this.#leave();
        isHeld = false;
      },
    };
  }

  /** Who comes now starts a pull of their own: this one is ending. */
  #leave(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#ended();
    this.#end.abort(new RuntimeError('cancelled', 'no pod waits for the image any more'));
  }

  #ended(): void {
    for (const listener of this.#endListeners.splice(0)) listener();
  }
}

/** It holds no secret: credentials go in as a digest. */
function keyOf({ image, credentials }: PullRequest): string {
  const pairs = credentials.map(({ username, password }) => [username, password]);
  return `${image} ${createHash('sha256').update(JSON.stringify(pairs)).digest('hex')}`;
}
