import type { StatsFs } from 'node:fs';
import { statfs as statfsOfNode } from 'node:fs/promises';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, withDeadline } from '../../base/index.ts';

export interface DiskSpace {
  readonly capacityBytes: number;
  /** For ordinary users. */
  readonly availableBytes: number;
  /** Zero where the file system has no fixed number of inodes. */
  readonly inodes: number;
  readonly inodesFree: number;
  /** Monotonic: when the file system was asked. While it does not answer, the last known figures grow old. */
  readonly askedMs: number;
}

export type StatFs = Pick<StatsFs, 'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree'>;

export interface DiskOptions {
  clock: Clock;
  log: Logger;
  /** Default that of node:fs. */
  statfs?: (path: string) => Promise<StatFs>;
}

/** Returns for each path the space of its file system, within a bounded time; never rejects. */
export type DiskProbes = (
  paths: readonly (string | undefined)[],
  signal: AbortSignal,
) => Promise<(DiskSpace | undefined)[]>;

type Probe = (signal: AbortSignal) => Promise<DiskSpace | undefined>;

/**
 * A mount that hangs costs one thread of the pool and two seconds: only one call for it is under way at a time, and until
 * it returns, the last known values are used. Paths that are no longer passed are forgotten.
 */
export function createDiskProbes(options: DiskOptions): DiskProbes {
  let probes = new Map<string, Probe>();
  return async (paths, signal) => {
    const wanted = new Set(paths.filter((path) => path !== undefined));
    probes = new Map([...wanted].map((path) => [path, probes.get(path) ?? createProbe(path, options)]));
    const answers = new Map<string, Promise<DiskSpace | undefined>>();
    for (const [path, probe] of probes) answers.set(path, probe(signal));
    return await Promise.all(paths.map((path) => (path === undefined ? undefined : answers.get(path))));
  };
}

const statfsTimeoutMs = 2000;

function createProbe(path: string, { clock, log, statfs = statfsOfNode }: DiskOptions): Probe {
  let known: DiskSpace | undefined;
  let asking: Promise<void> | undefined;
  let isLogged = false;

  function ask(): Promise<void> {
    const askedMs = clock.monotonicMs();
    asking ??= statfs(path)
      .then((answer) => {
        known = toDiskSpace(answer, askedMs);
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }

  return async (signal) => {
    try {
      await withDeadline({ clock, timeoutMs: statfsTimeoutMs, signal }, `the file system of ${path}`, ask);
      isLogged = false;
    } catch (error) {
      if (!isLogged && !signal.aborted) {
        log.warn(`cannot measure the disk, its last known state stands: ${describeError(error)}`);
        isLogged = true;
      }
    }
    return known;
  };
}

function toDiskSpace(answer: StatFs, askedMs: number): DiskSpace {
  return {
    capacityBytes: answer.blocks * answer.bsize,
    availableBytes: answer.bavail * answer.bsize,
    inodes: answer.files,
    inodesFree: answer.ffree,
    askedMs,
  };
}
