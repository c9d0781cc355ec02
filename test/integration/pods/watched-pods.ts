import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../../../src/api/index.ts';
import { podKind } from '../../../src/api/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';

/** One state of a pod as a watch told it. */
export interface Observed {
  readonly pod: Pod;
  /** By the monotonic clock of this process, when it came. */
  readonly atMs: number;
  readonly isGone: boolean;
}

const retryMs = 50;
const defaultTimeoutMs = 60_000;

/**
 * All pods of a cluster with everything that was told of them. An interrupted watch is followed by a list: what was
 * deleted meanwhile is told as gone. Disposal ends the watch.
 */
export class WatchedPods implements AsyncDisposable {
  readonly #api: ApiClient;
  readonly #end = new AbortController();
  readonly #byUid = new Map<string, Observed[]>();
  readonly #listeners = new Set<() => void>();
  readonly #running: Promise<void>;

  constructor(api: ApiClient) {
    this.#api = api;
    this.#running = this.#run();
  }

  /** What is there now. */
  get current(): Pod[] {
    return [...this.#byUid.values()].flatMap((all) => {
      const last = all.at(-1);
      return last === undefined || last.isGone ? [] : [last.pod];
    });
  }

  /** The states of the pod with that uid, in their order. */
  history(uid: string): readonly Observed[] {
    return this.#byUid.get(uid) ?? [];
  }

  /** Resolves with the first state, of those that came already too, that fits; fails with the last one otherwise. */
  async until(
    what: string,
    uid: string,
    fits: (state: Observed) => boolean,
    timeoutMs = defaultTimeoutMs,
  ): Promise<Observed> {
    const found = () => this.history(uid).find(fits);
    await this.#whenever(() => found() !== undefined, timeoutMs);
    const state = found();
    if (state !== undefined) return state;
    const last = this.history(uid).at(-1);
    const { metadata, status } = last?.pod ?? {};
    throw new Error(
      `waited ${timeoutMs} ms in vain for ${what}; pod ${metadata?.name} ${last?.isGone ? 'is gone and was' : 'is'} ${JSON.stringify(status)}`,
    );
  }

  /** Resolves when something holds, looked at after each event. */
  async untilAll(what: string, holds: () => boolean, timeoutMs = defaultTimeoutMs): Promise<void> {
    await this.#whenever(holds, timeoutMs);
    if (!holds()) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
  }

  async #whenever(holds: () => boolean, timeoutMs: number): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (holds()) resolve();
    };
    const timer = setTimeout(resolve, timeoutMs);
    this.#listeners.add(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(look);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        const { items, metadata } = await this.#api.list(podKind, { signal });
        this.#replace(items);
        const { resourceVersion = '' } = metadata;
        for await (const { type, object } of this.#api.watch(podKind, { resourceVersion, signal })) {
          if (type !== 'BOOKMARK') this.#note(object, type === 'DELETED');
        }
      } catch {
        await sleep(retryMs); // the server is restarted by the test, or the history has expired
      }
    }
  }

  #replace(items: readonly Pod[]): void {
    const listed = new Set(items.map(({ metadata }) => metadata?.uid));
    for (const pod of this.current) if (!listed.has(pod.metadata?.uid)) this.#note(pod, true);
    for (const pod of items) {
      const last = this.history(pod.metadata?.uid ?? '').at(-1);
      if (last?.pod.metadata?.resourceVersion !== pod.metadata?.resourceVersion) this.#note(pod, false);
    }
  }

  #note(pod: Pod, isGone: boolean): void {
    const uid = pod.metadata?.uid ?? '';
    const all = this.#byUid.get(uid) ?? [];
    all.push({ pod, isGone, atMs: performance.now() });
    this.#byUid.set(uid, all);
    for (const look of this.#listeners) look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }
}
