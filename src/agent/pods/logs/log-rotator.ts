import { lstat, statfs } from 'node:fs/promises';
import type { Clock, Logger, Service, Waker } from '../../../base/index.ts';
import {
  createWaker,
  describeError,
  errorCode,
  forEachConcurrently,
  Semaphore,
} from '../../../base/index.ts';
import { openFolderBelow, placeOfLog } from './folder.ts';
import type { Pace } from './log-pace.ts';
import { measurePace, minLookMs, waitByPace } from './log-pace.ts';
import { repairLog, rotateLog, tidyLogs } from './rotate.ts';

/** How often the free space is read, which shows that a log that was slow has become fast. */
const spaceMs = 1000;
/** Logs that are looked at, and rotated, at a time. */
const looksAtOnce = 8;

export interface ContainerLog {
  readonly id: string;
  /** Absolute, as the runtime says it. */
  readonly logPath: string;
  readonly isRunning: boolean;
}

export interface LogLimits {
  /** containerLogMaxSize; Infinity: never rotated. */
  readonly maxBytes: number;
  /** containerLogMaxFiles, the current one included. */
  readonly maxFiles: number;
  /** containerLogMaxWorkers: how many logs are compressed at a time. */
  readonly workers: number;
  /** containerLogMonitorInterval: the longest time between two looks at a log. */
  readonly intervalMs: number;
}

export interface LogRotatorOptions {
  readonly logsDir: string;
  /** Read whenever it is needed. */
  limits(): LogLimits;
  /** All that the runtime has; undefined while that is not known. */
  containers(): readonly ContainerLog[] | undefined;
  reopen(containerId: string): Promise<void>;
  /** Called when a log has reached its limit, with what came of that. */
  readonly onRotated?: (result: 'done' | 'failed') => void;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Watched {
  readonly id: string;
  readonly logPath: string;
  readonly folders: readonly [string, string];
  readonly log: string;
  /** Undefined before it was first measured. */
  pace: Pace | undefined;
  dueMs: number;
  isRunning: boolean;
  isTakenUp: boolean;
  /** In a row. */
  failures: number;
}

const untouched = { pace: undefined, dueMs: 0, isTakenUp: false, failures: 0 };

/**
 * Rotates the logs of containers. A log is looked at before it can have reached its limit at its pace; when the file system
 * loses half of a log's limit within a second, all of them are looked at. So a log becomes longer than its limit by what it
 * grows in about a second at most, and an idle one costs one look in the interval.
 */
export class LogRotator {
  readonly #options: LogRotatorOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #tidying = new Map<string, Promise<void>>();
  readonly #workers: Semaphore;
  readonly #waker: Waker;
  #freeBytes: number | undefined;

  constructor(options: LogRotatorOptions) {
    this.#options = options;
    this.#workers = new Semaphore(() => options.limits().workers);
    this.#waker = createWaker(options.clock);
  }

  /** When containers have come or gone. */
  readonly wake = (): void => this.#waker.wake();

  run: Service['run'] = async (signal, ready) => {
    ready();
    while (!signal.aborted) {
      await this.#look(signal);
      await this.#waker.sleep(this.#nextMs(), signal);
    }
    await Promise.all(this.#tidying.values());
  };

  async #look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#follow();
    if (this.#watched.size === 0) return;
    if (await this.#isFilling()) for (const each of this.#watched.values()) each.dueMs = 0;
    const nowMs = clock.monotonicMs();
    const due = [...this.#watched.values()].filter(({ dueMs }) => dueMs <= nowMs);
    await forEachConcurrently(due, looksAtOnce, (each) => this.#tend(each, signal), signal);
  }

  /** Takes up new containers and forgets those that are gone, or have ended and were looked at. */
  #follow(): void {
    const containers = this.#options.containers();
    if (containers === undefined) return;
    const ids = new Set<string>();
    for (const { id, logPath, isRunning } of containers) {
      ids.add(id);
      const known = this.#watched.get(id);
      if (known === undefined) this.#watch({ id, logPath, isRunning });
      else known.isRunning = isRunning;
    }
    for (const id of this.#watched.keys()) if (!ids.has(id)) this.#watched.delete(id);
  }

  /** One that is not a container's log below the folder of logs is let be. */
  #watch(log: ContainerLog): void {
    const place = placeOfLog(this.#options.logsDir, log.logPath);
    if (place !== undefined) this.#watched.set(log.id, { ...log, ...place, ...untouched });
  }

  /** Never rejects. */
  async #tend(watched: Watched, signal: AbortSignal): Promise<void> {
    const { clock, log, limits } = this.#options;
    try {
      if (!watched.isTakenUp) await this.#takeUp(watched, signal);
      watched.isTakenUp = true;
      if (watched.isRunning) await this.#measure(watched, signal);
      else watched.dueMs = Number.POSITIVE_INFINITY;
      watched.failures = 0;
    } catch (error) {
      watched.dueMs = clock.monotonicMs() + limits().intervalMs;
      watched.failures += 1;
      // one failure is nothing: the container may have ended while its log was being rotated
      if (watched.failures !== 2 || signal.aborted) return;
      log.warn(`cannot rotate the log ${watched.logPath}, trying on: ${describeError(error)}`);
    }
  }

  /** What an agent that was killed in the middle has left is finished first. */
  async #takeUp(watched: Watched, signal: AbortSignal): Promise<void> {
    await using folder = await openFolderBelow(this.#options.logsDir, watched.folders);
    const reopen = watched.isRunning ? () => this.#reopen(watched) : undefined;
    const names = await repairLog(folder, watched.log, reopen);
    if (names.some((name) => name !== watched.log)) this.#tidy(watched, signal);
  }

  async #measure(watched: Watched, signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#options;
    const { maxBytes, intervalMs } = limits();
    const sizeBytes = await this.#sizeOf(watched);
    const nowMs = clock.monotonicMs();
    const isFirst = watched.pace === undefined;
    watched.pace = measurePace(watched.pace, sizeBytes, nowMs);
    if (sizeBytes >= maxBytes) {
      await this.#rotate(watched, signal);
      watched.pace = { ...watched.pace, sizeBytes: 0, atMs: clock.monotonicMs() };
    }
    const waitMs = waitByPace(watched.pace, { maxBytes, intervalMs });
    watched.dueMs = nowMs + (isFirst ? Math.min(waitMs, minLookMs) : waitMs);
  }

  /** A log that is missing while its container runs is lost to everybody until it is reopened. */
  async #sizeOf(watched: Watched): Promise<number> {
    try {
      return (await lstat(watched.logPath)).size;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      await this.#reopen(watched);
      return 0;
    }
  }

  async #rotate(watched: Watched, signal: AbortSignal): Promise<void> {
    const { logsDir, clock, onRotated } = this.#options;
    await using folder = await openFolderBelow(logsDir, watched.folders);
    const reopen = () => this.#reopen(watched);
    try {
      await rotateLog({ folder, log: watched.log, nowMs: clock.now(), reopen });
    } catch (error) {
      onRotated?.('failed');
      throw error;
    }
    onRotated?.('done');
    this.#tidy(watched, signal);
  }

  #reopen({ id }: Watched): Promise<void> {
    return this.#options.reopen(id);
  }

  /** In the background: compressing takes longer than a fast log takes to reach its limit again. */
  #tidy({ logPath, folders, log: name }: Watched, signal: AbortSignal): void {
    const { logsDir, log, limits } = this.#options;
    if (this.#tidying.has(logPath)) return;
    const tidying = this.#workers
      .run(async () => {
        await using folder = await openFolderBelow(logsDir, folders);
        await tidyLogs(folder, name, () => limits().maxFiles, signal);
      })
      .catch((error: unknown) => {
        if (!signal.aborted)
          log.warn(`cannot compress or remove what was rotated of ${logPath}: ${describeError(error)}`);
      })
      .finally(() => this.#tidying.delete(logPath));
    this.#tidying.set(logPath, tidying);
  }

  async #isFilling(): Promise<boolean> {
    const { logsDir, limits } = this.#options;
    const before = this.#freeBytes;
    const facts = await statfs(logsDir).catch(() => undefined);
    this.#freeBytes = facts === undefined ? undefined : facts.bavail * facts.bsize;
    if (before === undefined || this.#freeBytes === undefined) return false;
    return before - this.#freeBytes > limits().maxBytes / 2;
  }

  #nextMs(): number {
    const nowMs = this.#options.clock.monotonicMs();
    const { intervalMs } = this.#options.limits();
    const dueMs = Math.min(nowMs + intervalMs, ...[...this.#watched.values()].map((each) => each.dueMs));
    const isIdle = ![...this.#watched.values()].some(({ isRunning }) => isRunning);
    return Math.max(minLookMs, Math.min(dueMs - nowMs, isIdle ? intervalMs : spaceMs));
  }
}
