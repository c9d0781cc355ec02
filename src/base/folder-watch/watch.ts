import type { Clock, Logger } from '../index.ts';
import { describeError, untilAborted } from '../index.ts';
import type { Alarm } from './alarm.ts';
import { createAlarm } from './alarm.ts';
import type { HintSource } from './hints.ts';
import { kernelHints } from './hints.ts';
import type { FolderReader } from './reader.ts';
import { folderReader } from './reader.ts';
import type { Scan } from './scan.ts';
import { scanFolder } from './scan.ts';
import { HintSubscriptions } from './subscriptions.ts';
import type { FolderDiff, FolderEntry, FolderView, FolderWatch } from './types.ts';

/*
 * A hint of the kernel is a reason to scan and nothing else: the content of the folder is only ever learnt by a scan. So it
 * does not matter which hints come, how often and in what order, and a periodic scan makes up for those that are lost.
 *
 *     scan ──► notify ──► subscribe to the folders found ──► (new ones? scan again) ──► wait: hint and quiet, or time ──► scan
 */

export interface FolderWatchOptions {
  /** Absolute. It need not exist. */
  folder: string;
  /** Whether to report a path in the folder; a subfolder for which it returns false is not entered. Default: all. */
  select?(path: string): boolean;
  /** How many levels of subfolders are scanned, none through a symbolic link; default 0. */
  depth?: number;
  /** No more entries are reported; those known before take precedence. Default 1000. */
  maxEntries?: number;
  /** How long there must be no hint before the folder is scanned; default 100. */
  settleMs?: number;
  /** The longest time between two scans; default 10 s. */
  rescanMs?: number;
  /** The same while there are no hints; default 1 s. */
  pollMs?: number;
  /** How long after a failure to subscribe to hints, as at a limit of inotify, it is tried again; default 60 s. */
  retryMs?: number;
  log: Logger;
  clock: Clock;
  fileSystem?: FolderReader;
  hints?: HintSource;
}

/** The most scans in a row, for a folder in which subfolders keep appearing. */
const maxScansInRow = 5;

/** After a scan there is a rest of so many times its duration: scans take at most a tenth of the time. */
const restFactor = 9;

/** How long a file system that hangs may delay the stop. */
const stopMs = 1000;

/** Follows the content of a folder; see FolderWatch. Nothing is scanned before `run` or `rescan` is called. */
export function watchFolder(options: FolderWatchOptions): FolderWatch {
  return new FolderWatcher(options);
}

class FolderWatcher implements FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #settleMs: number;
  readonly #listeners = new Set<(diff: FolderDiff) => void>();
  readonly #alarm: Alarm;
  #view: FolderView | undefined;
  #subscriptions: HintSubscriptions | undefined;
  #stopping: AbortSignal | undefined;
  /** Settles after the scan under way. */
  #running: Promise<unknown> = Promise.resolve();
  /** The scan that waits for it. */
  #queued: Promise<Scan> | undefined;
  #scanMs = 0;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#settleMs = options.settleMs ?? 100;
    this.#alarm = createAlarm(options.clock, this.#settleMs);
  }

  get view(): FolderView | undefined {
    return this.#view;
  }

  onChange(listener: (diff: FolderDiff) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async rescan(): Promise<FolderView> {
    return this.#toView(await this.#scan());
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    this.#stopping = signal;
    const stopped = new AbortController();
    const late = untilAborted(signal).then(() => this.#options.clock.sleep(stopMs, stopped.signal));
    try {
      await Promise.race([this.#follow(signal, ready), late]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stopped.abort();
      this.#stopping = undefined;
      this.#subscriptions = undefined;
    }
  }

  async #follow(signal: AbortSignal, ready: () => void): Promise<void> {
    const { folder, rescanMs = 10_000, pollMs = 1000, retryMs = 60_000, log, clock } = this.#options;
    await using subscriptions = new HintSubscriptions({
      folder,
      hints: this.#options.hints ?? kernelHints,
      pollMs,
      retryMs,
      onHint: this.#alarm.ring,
      log,
      clock,
    });
    this.#subscriptions = subscriptions;
    let isFirst = true;
    while (!signal.aborted) {
      const { isFresh } = await this.#scanAndSubscribe(subscriptions);
      if (isFirst) ready();
      isFirst = false;
      const dueMs = subscriptions.by === 'events' ? rescanMs : pollMs;
      await clock.sleep(Math.min(rescanMs, restFactor * this.#scanMs), signal); // a hint during it ends the wait below
      await this.#alarm.wait(isFresh ? Math.min(dueMs, this.#settleMs) : dueMs, signal);
    }
  }

  /** Scans until the folders found are those subscribed to, within bounds. */
  async #scanAndSubscribe(subscriptions: HintSubscriptions): Promise<Scan> {
    for (let scans = 1; ; scans += 1) {
      const scan = await this.#scan();
      const isNew = scan.isCrowded ? await subscriptions.pause() : await subscriptions.follow(scan.folders);
      if (this.#view !== undefined) this.#notify({ ...this.#view, by: subscriptions.by }); // a rescan may have set it meanwhile
      if (isNew !== true) return scan;
      if (scans < maxScansInRow) continue;
      this.#alarm.ring();
      return scan;
    }
  }

  /** Scans one after the other; callers share the scan that waits for the one under way. */
  #scan(): Promise<Scan> {
    if (this.#queued !== undefined) return this.#queued;
    const scan = this.#running.then(() => {
      this.#queued = undefined;
      return this.#scanNow();
    });
    this.#queued = scan;
    this.#running = scan.catch(() => undefined);
    return scan;
  }

  async #scanNow(): Promise<Scan> {
    const { folder, clock, fileSystem: reader = folderReader, select = () => true } = this.#options;
    const { depth = 0, maxEntries = 1000 } = this.#options;
    const known = this.#view?.entries ?? new Map();
    const bounds = { depth, maxEntries, nowMs: clock.now(), signal: this.#stopping };
    const startedMs = clock.monotonicMs();
    const scan = await scanFolder({ folder, reader, select, known, ...bounds });
    this.#scanMs = clock.monotonicMs() - startedMs;
    this.#notify(this.#toView(scan));
    return scan;
  }

  #toView({ entries, problem, isMissing }: Scan): FolderView {
    return {
      entries,
      ...(problem === undefined ? {} : { problem }),
      ...(isMissing === true ? { isMissing } : {}),
      by: this.#subscriptions?.by ?? 'polling',
    };
  }

  #notify(view: FolderView): void {
    const { folder, log } = this.#options;
    const diff = compareViews(this.#view, view);
    this.#view = view;
    if (diff === undefined) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener(diff);
      } catch (error) {
        log.error(`what has changed in ${folder} could not be worked on: ${describeError(error)}`);
      }
    }
  }
}

/** Undefined where the views do not differ. */
function compareViews(before: FolderView | undefined, view: FolderView): FolderDiff | undefined {
  const earlier: ReadonlyMap<string, FolderEntry> = before?.entries ?? new Map();
  const now = [...view.entries.values()];
  const added = now.filter(({ path }) => !earlier.has(path));
  const changed = now.filter((entry) => isReplaced(earlier.get(entry.path), entry));
  const removed = [...earlier.values()].filter(({ path }) => !view.entries.has(path));
  const isSame = added.length + changed.length + removed.length === 0;
  if (isSame && before?.problem === view.problem && before?.by === view.by) return undefined;
  return { view, added, changed, removed };
}

function isReplaced(before: FolderEntry | undefined, now: FolderEntry): boolean {
  return before !== undefined && (before.identity !== now.identity || before.kind !== now.kind);
}
