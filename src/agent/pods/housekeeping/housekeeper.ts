import { mkdir, realpath } from 'node:fs/promises';
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
  /** ROOT/pods: only the agent of this root folder, and one that had it before, makes folders in it. */
  readonly podsDir: string;
  /** Other agents of this machine may have logs there, too. */
  readonly logsDir: string;
  /**
   * Whether the pod is wanted, or the runtime has anything of it; undefined while that is not known for all pods. It is asked
   * again before each step.
   */
  isKnown(podUid: string): boolean | undefined;
  /** Has drivers take their volumes from a pod. Rejects with what is in the way. */
  unpublish?(podUid: string): Promise<void>;
  /** Ends what runs in the cgroup of the pod, and removes it. */
  removeGroup?(podUid: string): Promise<void>;
  /** Gives back what volumes no pod shares any more; called when it is known of all pods whether they are wanted. */
  releaseShared?(): Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: that of this process. */
  readMounts?(): string;
}

/** A folder of a pod. */
interface OfPod {
  readonly path: string;
  readonly podUid: string;
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
 * Removes what is left of pods that nobody knows: their mounts, cgroups, logs and folders. Other agents may share the machine, so
 * a pod counts as this agent's only while its folder is there: that is made before anything else of the pod, and goes last.
 * What is in the way is logged once, kept for `leftovers`, and tried again each time.
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

  /** Says on the disk that what is left of the pod is this agent's, until `sweep` has removed it; returns whether it could. */
  async claim(podUid: string): Promise<boolean> {
    const { podsDir, log } = this.#options;
    try {
      await mkdir(join(podsDir, podUid), { recursive: true, mode: 0o750 });
    } catch (error) {
      log.warn(`what is left of pod ${podUid} cannot be removed yet, trying on: ${describeError(error)}`);
      return false;
    }
    this.wake();
    return true;
  }

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
    const [pods, logs] = await Promise.all([this.#listPods(), this.#listLogs()]);
    for (const { path, podUid } of pods) {
      if (signal.aborted) return removed;
      const isKnown = this.#options.isKnown(podUid);
      if (isKnown === undefined) this.#isUndecided = true;
      if (isKnown !== false) continue;
      const ofPod = logs.filter((log) => log.podUid === podUid);
      for (const each of [...ofPod, { path, podUid }]) found.add(each.path);
      removed.push(...(await this.#removePod({ path, podUid }, ofPod, signal)));
    }
    for (const path of this.#leftovers.keys()) if (!found.has(path)) this.#leftovers.delete(path);
    await this.#releaseShared();
    return removed;
  }

  async #releaseShared(): Promise<void> {
    const { isKnown, releaseShared, log } = this.#options;
    if (isKnown('') === undefined) return;
    await releaseShared?.().catch((error: unknown) =>
      log.warn(`what pods shared of volumes is left: ${describeError(error)}`),
    );
  }

  async #listPods(): Promise<OfPod[]> {
    const podsDir = await this.#resolve(this.#options.podsDir);
    const names = podsDir === undefined ? [] : await this.#namesIn(podsDir);
    return names
      .filter((name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
      .map((name) => ({ path: join(podsDir ?? '', name), podUid: name }));
  }

  async #listLogs(): Promise<OfPod[]> {
    const logsDir = await this.#resolve(this.#options.logsDir);
    const names = logsDir === undefined ? [] : await this.#namesIn(logsDir);
    return names.flatMap((name) => {
      const pod = parsePodLogFolder(name);
      return pod === undefined ? [] : [{ path: join(logsDir ?? '', name), podUid: pod.uid }];
    });
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

  /** The folder goes last, when all else has gone. Returns the paths that were removed. */
  async #removePod({ path, podUid }: OfPod, logs: readonly OfPod[], signal: AbortSignal): Promise<string[]> {
    const { unpublish, removeGroup, log } = this.#options;
    const removed: string[] = [];
    let at = path;
    try {
      await unpublish?.(podUid);
      await this.#unmountAll(path, podUid, signal);
      if (!this.#isGone(podUid)) return removed;
      await removeGroup?.(podUid);
      for (const each of logs) {
        at = each.path;
        if (!(await this.#removeFolder(each, () => 'all', signal))) return removed;
        removed.push(at);
      }
      at = path;
      if (await this.#removeFolder({ path, podUid }, scopeOfPodFolder, signal)) removed.push(path);
    } catch (error) {
      if (!signal.aborted && errorCode(error) !== 'ENOENT') this.#refuse(at, describeError(error));
    }
    for (const each of removed) log.info(`removed ${each}: it was left over from a pod that is gone`);
    return removed;
  }

  #isGone(podUid: string): boolean {
    return this.#options.isKnown(podUid) === false;
  }

  /** Returns whether it is gone; it stays when the pod is known again. */
  async #removeFolder(
    { path, podUid }: OfPod,
    scopeOf: (relative: string) => RemovalScope,
    signal: AbortSignal,
  ): Promise<boolean> {
    await this.#unmountAll(path, podUid, signal);
    if (!this.#isGone(podUid)) return false;
    await removeTree(path, { signal, scopeOf });
    this.#leftovers.delete(path);
    return true;
  }

  /** In more than one pass: what was moved after it was mounted may hide what the table has before it. */
  async #unmountAll(path: string, podUid: string, signal: AbortSignal): Promise<void> {
    const { readMounts = readMountTable, clock } = this.#options;
    for (let left = mountsBelow(readMounts(), path); left.length > 0; ) {
      const problems: string[] = [];
      for (const point of left) {
        if (!this.#isGone(podUid)) return;
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
