import { join } from 'node:path';
import type { Clock, Logger } from '../index.ts';
import { describeError, errorCode } from '../index.ts';
import type { Heard, HintSource } from './hints.ts';

export interface ListeningOptions {
  folder: string;
  hints: HintSource;
  /** How often is looked where nothing can be heard; for the log. */
  pollMs: number;
  /** After so long without hints they are asked for again. */
  retryMs: number;
  /** Something has happened. */
  ring(): void;
  log: Logger;
  clock: Clock;
}

/** Listens to the folders that a scan has found. */
export interface Listening extends AsyncDisposable {
  readonly by: 'events' | 'polling';
  /**
   * Listens to these folders and to no others. True when one of them is listened to since now only: what has happened in
   * it between the scan and now has been missed.
   */
  follow(folders: ReadonlyMap<string, string>): Promise<boolean>;
  /** Listens to nothing for now, as there is too much to hear. */
  pause(): Promise<void>;
}

interface Ear {
  identity: string;
  handle: AsyncDisposable;
  isLost: boolean;
}

const gone: readonly (string | undefined)[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'];
const limits: readonly (string | undefined)[] = ['ENOSPC', 'EMFILE', 'ENFILE'];

export function createListening(options: ListeningOptions): Listening {
  const { folder, hints, pollMs, retryMs, ring, log, clock } = options;
  const ears = new Map<string, Ear>();
  let failedMs: number | undefined;

  async function close(path: string, ear: Ear): Promise<void> {
    ears.delete(path);
    await ear.handle[Symbol.asyncDispose]();
  }

  async function closeAll(): Promise<void> {
    for (const [path, ear] of [...ears]) await close(path, ear);
  }

  async function open(path: string, identity: string): Promise<void> {
    const ear: Ear = { identity, isLost: false, handle: { [Symbol.asyncDispose]: async () => undefined } };
    const heard: Heard = {
      changed: ring,
      lost(error) {
        ear.isLost = true;
        if (error !== undefined) log.debug(`${join(folder, path)}: no more hints: ${describeError(error)}`);
        ring();
      },
    };
    ear.handle = await hints.listen(join(folder, path), heard);
    ears.set(path, ear);
  }

  async function openMissing(folders: ReadonlyMap<string, string>): Promise<boolean> {
    let isNew = false;
    for (const [path, identity] of folders) {
      if (ears.has(path)) continue;
      try {
        await open(path, identity);
        isNew = true;
      } catch (error) {
        if (!gone.includes(errorCode(error))) throw error;
      }
    }
    return isNew;
  }

  async function fail(error: unknown): Promise<void> {
    if (failedMs === undefined)
      log.warn(`${deaf(folder, error)}; it is looked at every ${pollMs} ms instead`);
    failedMs = clock.monotonicMs();
    await closeAll();
  }

  function recovered(): void {
    if (failedMs !== undefined) log.info(`changes in ${folder} are told by the kernel again`);
    failedMs = undefined;
  }

  return {
    get by() {
      return failedMs === undefined && ears.size > 0 ? 'events' : 'polling';
    },
    async follow(folders) {
      for (const [path, ear] of [...ears])
        if (ear.isLost || folders.get(path) !== ear.identity) await close(path, ear);
      if (failedMs !== undefined && clock.monotonicMs() - failedMs < retryMs) return false;
      try {
        const isNew = await openMissing(folders);
        if (folders.size > 0) recovered();
        return isNew;
      } catch (error) {
        await fail(error);
        return false;
      }
    },
    pause: closeAll,
    [Symbol.asyncDispose]: closeAll,
  };
}

function deaf(folder: string, error: unknown): string {
  if (!limits.includes(errorCode(error)))
    return `changes in ${folder} are not told by the kernel: ${describeError(error)}`;
  return `changes in ${folder} are not told by the kernel, as a limit of inotify is reached (${describeError(error)}); raise fs.inotify.max_user_watches and fs.inotify.max_user_instances`;
}
