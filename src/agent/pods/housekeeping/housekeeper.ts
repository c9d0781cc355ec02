import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger, Service, Waker } from '../../../base/index.ts';
import { createWaker, describeError, errorCode } from '../../../base/index.ts';
import { namesIn, parsePodLogFolder } from '../logs/index.ts';
import { mountsBelow, readMountTable, unmount } from './mount-points.ts';
import type { RemovalScope } from './remove-tree.ts';
import { InTheWayError, removeTree } from './remove-tree.ts';

/** How often it is looked for what is left over. */
const sweepMs = 2 * 60_000;
/** The same while it is not known of something whether it is left over. */
const undecidedMs = 2000;

/** What could not be removed. */
export interface Leftover {
  readonly path: string;
  /** Why, with what is in the way. */
  readonly reason: string;
  /** By the wall clock. */
  readonly sinceMs: number;
}

export interface HousekeeperOptions {
  /** ROOT/pods. */
  readonly podsDir: string;
  readonly logsDir: string;
  /**
   * Whether the pod is wanted, or the runtime has anything of it; undefined while that is not known for all pods. It is asked
   * again before each step.
   */
  isKnown(podUid: string): boolean | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: that of this process. */
  readMounts?(): string;
}

/** Of the volumes, by their plugins' folders: what the agent itself has written, or the pod for itself alone. */
const ownVolumes = new Set(
  ['empty-dir', 'configmap', 'secret', 'projected', 'downward-api'].map(
    (plugin) => `kubernetes.io~${plugin}`,
  ),
);

/** What other volumes hold is data of others: of them only what is empty is removed. */
export function scopeOfPodFolder(relativePath: string): RemovalScope {
  const [kind, plugin, ...rest] = relativePath.split('/');
  if (kind === 'volume-subpaths') return 'emptied';
  const isForeign = kind === 'volumes' && plugin !== undefined && !ownVolumes.has(plugin);
  return isForeign && rest.length === 0 ? 'emptied' : 'all';
}

/**
 * Removes what is left on the disk of pods that nobody knows: their folders, once everything in them is unmounted, and their
 * logs. What is in the way is logged once, kept for `leftovers`, and tried again each time.
 */
export class Housekeeper {
  readonly #options: HousekeeperOptions;
  readonly #leftovers = new Map<string, Leftover>();
  readonly #waker: Waker;
  #isUndecided = false;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
  }

  /** When a pod has gone. */
  readonly wake = (): void => this.#waker.wake();

  /** What could not be removed, by path. */
  leftovers(): Leftover[] {
    return [...this.#leftovers.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  run: Service['run'] = async (signal, ready) => {
    ready();
    while (!signal.aborted) {
      await this.sweep(signal);
      await this.#waker.sleep(this.#isUndecided ? undecidedMs : sweepMs, signal);
    }
  };

  /** Looks once; returns the paths that were removed. Never rejects. */
  async sweep(signal: AbortSignal): Promise<string[]> {
    const removed: string[] = [];
    const found = new Set<string>();
    this.#isUndecided = false;
    for (const { path, podUid, scopeOf } of await this.#list()) {
      if (signal.aborted) return removed;
      const isKnown = this.#options.isKnown(podUid);
      if (isKnown === undefined) this.#isUndecided = true;
      if (isKnown !== false) continue;
      found.add(path);
      if (await this.#remove(path, podUid, scopeOf, signal)) removed.push(path);
    }
    for (const path of this.#leftovers.keys()) if (!found.has(path)) this.#leftovers.delete(path);
    return removed;
  }

  async #list(): Promise<{ path: string; podUid: string; scopeOf: (relative: string) => RemovalScope }[]> {
    const [podsDir, logsDir] = await Promise.all([
      this.#resolve(this.#options.podsDir),
      this.#resolve(this.#options.logsDir),
    ]);
    const pods = (podsDir === undefined ? [] : await this.#namesIn(podsDir)).flatMap((name) => {
      const isPod = /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name);
      return isPod ? [{ path: join(podsDir ?? '', name), podUid: name, scopeOf: scopeOfPodFolder }] : [];
    });
    const logs = (logsDir === undefined ? [] : await this.#namesIn(logsDir)).flatMap((name) => {
      const pod = parsePodLogFolder(name);
      if (pod === undefined) return [];
      return [{ path: join(logsDir ?? '', name), podUid: pod.uid, scopeOf: () => 'all' as const }];
    });
    return [...pods, ...logs];
  }

  /** The mount table has paths without links. */
  async #resolve(folder: string): Promise<string | undefined> {
    return await realpath(folder).catch(() => undefined);
  }

  async #namesIn(folder: string): Promise<string[]> {
    try {
      return await namesIn(folder);
    } catch (error) {
      this.#refuse(folder, describeError(error));
      return [];
    }
  }

  async #remove(
    path: string,
    podUid: string,
    scopeOf: (relative: string) => RemovalScope,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await this.#unmountAll(path, podUid, signal);
      if (this.#options.isKnown(podUid) !== false) return false;
      await removeTree(path, { signal, scopeOf });
    } catch (error) {
      if (signal.aborted) return false;
      if (errorCode(error) === 'ENOENT') return false;
      this.#refuse(path, describeError(error));
      return false;
    }
    this.#options.log.info(`removed ${path}: it was left over from a pod that is gone`);
    this.#leftovers.delete(path);
    return true;
  }

  /** In more than one pass: what was moved after it was mounted may hide what the table has before it. */
  async #unmountAll(path: string, podUid: string, signal: AbortSignal): Promise<void> {
    const { readMounts = readMountTable, clock } = this.#options;
    for (let left = mountsBelow(readMounts(), path); left.length > 0; ) {
      const problems: string[] = [];
      for (const point of left) {
        if (this.#options.isKnown(podUid) !== false) return;
        const problem = await unmount(point, clock, signal);
        if (problem !== undefined) problems.push(`${point} is mounted: ${problem}`);
      }
      const remaining = mountsBelow(readMounts(), path);
      if (remaining.length >= left.length)
        throw new InTheWayError(problems[0] ?? `${remaining[0]} is mounted again`);
      left = remaining;
    }
  }

  #refuse(path: string, reason: string): void {
    const before = this.#leftovers.get(path);
    if (before?.reason !== reason)
      this.#options.log.warn(
        `cannot remove ${path}, left over from a pod that is gone, trying on: ${reason}`,
      );
    this.#leftovers.set(path, { path, reason, sinceMs: before?.sinceMs ?? this.#options.clock.now() });
  }
}
