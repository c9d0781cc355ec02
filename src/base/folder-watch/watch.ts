import type { Clock, Logger } from '../index.ts';
import { describeError, untilAborted } from '../index.ts';
import { createAlarm } from './alarm.ts';
import { difference } from './difference.ts';
import type { HintSource } from './hints.ts';
import { kernelHints } from './hints.ts';
import type { Listening } from './listening.ts';
import { createListening } from './listening.ts';
import type { FolderReader } from './reader.ts';
import { folderReader } from './reader.ts';
import type { Scan } from './scan.ts';
import { scanFolder } from './scan.ts';
import type { FolderDiff, FolderView, FolderWatch } from './types.ts';

/*
 * A hint of the kernel is a reason to look, never more: what is in the folder is only ever learnt by a scan. So it does
 * not matter which hints come, how often and in what order, and a scan now and then makes up for those that do not come.
 *
 *     scan ──► tell ──► listen to the folders found ──► (new ones? scan again) ──► wait: hint and quiet, or time ──► scan
 */

export interface FolderWatchOptions {
  /** Absolute. It need not be there. */
  folder: string;
  /** Whether a path in the folder is of interest; a subfolder that is not is not entered. Default all. */
  select?(path: string): boolean;
  /** So many levels of subfolders are looked into, none through a symbolic link; default 0. */
  depth?: number;
  /** No more entries are taken; those that were there before come first. Default 1000. */
  maxEntries?: number;
  /** After a hint there must be quiet for so long before the folder is looked at; default 100. */
  settleMs?: number;
  /** Looks anyway after so long; default 10 s. */
  rescanMs?: number;
  /** The same while the folder is missing or nothing is heard of changes; default 1 s. */
  pollMs?: number;
  /** Where a limit has made it so that nothing is heard, it is tried again after so long; default 60 s. */
  retryMs?: number;
  log: Logger;
  clock: Clock;
  fileSystem?: FolderReader;
  hints?: HintSource;
}

/** In a folder whose subfolders are made anew all the time. */
const scansAtOnce = 5;

/** Of the time no more than a tenth goes into looks, however much there is to see and to hear; then it rests so many times as long. */
const restPerLook = 9;

/** A file system that hangs holds up no stop for longer. */
const stopMs = 1000;

/** Follows what is in a folder; see FolderWatch. Nothing is looked at before `run` or `rescan` is called. */
export function watchFolder(options: FolderWatchOptions): FolderWatch {
  const { folder, settleMs = 100, rescanMs = 10_000, pollMs = 1000, retryMs = 60_000, log, clock } = options;
  const listeners = new Set<(diff: FolderDiff) => void>();
  const alarm = createAlarm(clock, settleMs);
  let view: FolderView | undefined;
  let listening: Listening | undefined;
  let stopping: AbortSignal | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Scan> | undefined;
  let tookMs = 0;

  function tell(seen: FolderView): void {
    const diff = difference(view, seen);
    view = seen;
    if (diff === undefined) return;
    for (const listener of [...listeners]) {
      try {
        listener(diff);
      } catch (error) {
        log.error(`what has changed in ${folder} could not be worked on: ${describeError(error)}`);
      }
    }
  }

  async function scanNow(): Promise<Scan> {
    const { fileSystem: reader = folderReader, select = () => true, depth = 0, maxEntries = 1000 } = options;
    const known = view?.entries ?? new Map();
    const bounds = { depth, maxEntries, nowMs: clock.now(), signal: stopping };
    const beganMs = clock.monotonicMs();
    const seen = await scanFolder({ folder, reader, select, known, ...bounds });
    tookMs = clock.monotonicMs() - beganMs;
    tell(viewOf(seen));
    return seen;
  }

  function viewOf({ entries, problem, isMissing }: Scan): FolderView {
    return {
      entries,
      ...(problem === undefined ? {} : { problem }),
      ...(isMissing === true ? { isMissing } : {}),
      by: listening?.by ?? 'polling',
    };
  }

  /** One after the other; who asks while one waits for its turn gets that one. */
  function scan(): Promise<Scan> {
    if (next !== undefined) return next;
    const begun = last.then(() => {
      next = undefined;
      return scanNow();
    });
    next = begun;
    last = begun.catch(() => undefined);
    return begun;
  }

  /** Until what has been seen is also what is listened to. */
  async function look(ears: Listening): Promise<Scan> {
    for (let turn = 1; ; turn += 1) {
      const seen = await scan();
      const isNew = seen.isCrowded ? await ears.pause() : await ears.follow(seen.folders);
      if (view !== undefined) tell({ ...view, by: ears.by }); // somebody else may have looked meanwhile
      if (isNew !== true) return seen;
      if (turn < scansAtOnce) continue;
      alarm.ring();
      return seen;
    }
  }

  async function follow(signal: AbortSignal, ready: () => void): Promise<void> {
    await using ears = createListening({
      folder,
      hints: options.hints ?? kernelHints,
      pollMs,
      retryMs,
      ring: alarm.ring,
      log,
      clock,
    });
    listening = ears;
    let isFirst = true;
    while (!signal.aborted) {
      const { isFresh } = await look(ears);
      if (isFirst) ready();
      isFirst = false;
      const dueMs = ears.by === 'events' ? rescanMs : pollMs;
      await clock.sleep(Math.min(rescanMs, restPerLook * tookMs), signal); // who rings meanwhile is heard after it
      await alarm.wait(isFresh ? Math.min(dueMs, settleMs) : dueMs, signal);
    }
  }

  return {
    get view() {
      return view;
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async rescan() {
      return viewOf(await scan());
    },
    async run(signal, ready) {
      stopping = signal;
      const stopped = new AbortController();
      const late = untilAborted(signal).then(() => clock.sleep(stopMs, stopped.signal));
      try {
        await Promise.race([follow(signal, ready), late]);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        stopped.abort();
        stopping = undefined;
        listening = undefined;
      }
    },
  };
}
