import { basename, join } from 'node:path';
import type { Clock, Logger } from '../index.ts';
import { describeError, errorCode } from '../index.ts';
import type { HintSource } from './hints.ts';

export interface SubscriptionOptions {
  folder: string;
  hints: HintSource;
  /** How often the folder is scanned while there are no hints; for the log. */
  pollMs: number;
  /** How long after a failure to subscribe it is tried again. */
  retryMs: number;
  /** Called when something has happened in one of the folders. */
  onHint(): void;
  log: Logger;
  clock: Clock;
}

interface Subscription {
  /** Of the folder. */
  identity: string;
  handle: AsyncDisposable;
  isLost: boolean;
}

const goneCodes: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'];
const limitCodes: readonly (string | undefined)[] = ['ENOSPC', 'EMFILE', 'ENFILE'];

/** Subscriptions to the hints of the folders that a scan has found. */
export class HintSubscriptions implements AsyncDisposable {
  readonly #options: SubscriptionOptions;
  /** By path. */
  readonly #subscriptions = new Map<string, Subscription>();
  /** When subscribing failed last; undefined while it succeeds. */
  #failedMs: number | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** How changes are noticed now. */
  get by(): 'events' | 'polling' {
    return this.#failedMs === undefined && this.#subscriptions.size > 0 ? 'events' : 'polling';
  }

  /**
   * Subscribes to exactly these folders, given by path with their identity. Returns true when one of the subscriptions is
   * new: changes in that folder between its scan and now have been missed.
   */
  async follow(folders: ReadonlyMap<string, string>): Promise<boolean> {
    const { clock, retryMs } = this.#options;
    for (const [path, subscription] of [...this.#subscriptions])
      if (subscription.isLost || folders.get(path) !== subscription.identity)
        await this.#close(path, subscription);
    if (this.#failedMs !== undefined && clock.monotonicMs() - this.#failedMs < retryMs) return false;
    try {
      const isNew = await this.#openMissing(folders);
      if (folders.size > 0) this.#recover();
      return isNew;
    } catch (error) {
      await this.#fail(error);
      return false;
    }
  }

  /** Ends all subscriptions; `follow` makes new ones. */
  async pause(): Promise<void> {
    for (const [path, subscription] of [...this.#subscriptions]) await this.#close(path, subscription);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pause();
  }

  async #close(path: string, subscription: Subscription): Promise<void> {
    this.#subscriptions.delete(path);
    await subscription.handle[Symbol.asyncDispose]();
  }

  async #open(path: string, identity: string): Promise<void> {
    const { folder, hints, onHint, log } = this.#options;
    const awaited = findAwaitedName(folder, path);
    const subscription: Subscription = {
      identity,
      isLost: false,
      handle: { [Symbol.asyncDispose]: async () => undefined },
    };
    subscription.handle = await hints.listen(join(folder, path), {
      changed(name) {
        if (awaited === undefined || name === undefined || name === awaited) onHint();
      },
      lost(error) {
        subscription.isLost = true;
        if (error !== undefined) log.debug(`${join(folder, path)}: no more hints: ${describeError(error)}`);
        onHint();
      },
    });
    this.#subscriptions.set(path, subscription);
  }

  async #openMissing(folders: ReadonlyMap<string, string>): Promise<boolean> {
    let isNew = false;
    for (const [path, identity] of folders) {
      if (this.#subscriptions.has(path)) continue;
      try {
        await this.#open(path, identity);
        isNew = true;
      } catch (error) {
        if (!goneCodes.includes(errorCode(error))) throw error;
      }
    }
    return isNew;
  }

  async #fail(error: unknown): Promise<void> {
    const { folder, pollMs, log, clock } = this.#options;
    if (this.#failedMs === undefined)
      log.warn(`${describeFailure(folder, error)}; it is looked at every ${pollMs} ms instead`);
    this.#failedMs = clock.monotonicMs();
    await this.pause();
  }

  #recover(): void {
    const { folder, log } = this.#options;
    if (this.#failedMs !== undefined) log.info(`changes in ${folder} are told by the kernel again`);
    this.#failedMs = undefined;
  }
}

/** In an ancestor of a missing folder, the one name whose changes matter; undefined in the folder and below it. */
function findAwaitedName(folder: string, path: string): string | undefined {
  if (path !== '..' && !path.startsWith('../')) return undefined;
  return basename(join(folder, path.slice('/..'.length)));
}

function describeFailure(folder: string, error: unknown): string {
  if (!limitCodes.includes(errorCode(error)))
    return `changes in ${folder} are not told by the kernel: ${describeError(error)}`;
  return `changes in ${folder} are not told by the kernel, as a limit of inotify is reached (${describeError(error)}); raise fs.inotify.max_user_watches and fs.inotify.max_user_instances`;
}
