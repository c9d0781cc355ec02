/**
 * The mark of everything that a run of tests starts: the run is named by the pid and the start time of its process, so
 * that no later process with the same pid is taken for it. Every process of the run has the mark in its environment,
 * followed by what names a part of the run, and the names of its temporary folders begin with it.
 */
import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessEntry } from './process-table.ts';
import { environmentOf, findProcess, listProcesses, startTimeIn } from './process-table.ts';

/** Holds the marker: the run, and after a slash what names a part of it. */
export const markerName = 'NODEWARD_TEST_FILE';

export interface TestRun {
  readonly pid: number;
  /** In clock ticks since the boot. */
  readonly startTime: number;
}

/** On a disk, and short: the path of a socket within has 107 bytes at most. */
const foldersIn = '/var/tmp';

/** The run that this process is. */
export function ownRun(): TestRun {
  return { pid: process.pid, startTime: startTimeIn(readFileSync('/proc/self/stat', 'utf8')) };
}

export function formatRun({ pid, startTime }: TestRun): string {
  return `${pid}@${startTime}`;
}

/** The run that a marker names; undefined for other texts. */
export function parseRun(marker: string): TestRun | undefined {
  const [, pid, startTime] = /^(\d+)@(\d+)(?:\/|$)/.exec(marker) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), startTime: Number(startTime) };
}

export async function isRunning({ pid, startTime }: TestRun): Promise<boolean> {
  const found = await findProcess(pid);
  return found !== undefined && found.state !== 'Z' && found.startTime === startTime;
}

/** What the path of a temporary folder of this run begins with. */
export function folderPrefix({ pid, startTime }: TestRun): string {
  return join(foldersIn, `nw-${pid.toString(36)}-${startTime.toString(36)}-`);
}

/** The temporary folders of all runs that belong to this user: others could name a folder anything. */
export async function foldersOfRuns(): Promise<{ run: TestRun; path: string }[]> {
  const found: { run: TestRun; path: string }[] = [];
  for (const entry of await readdir(foldersIn, { withFileTypes: true })) {
    const [, pid, startTime] = /^nw-([0-9a-z]+)-([0-9a-z]+)-\w{6}$/.exec(entry.name) ?? [];
    if (pid === undefined || startTime === undefined || !entry.isDirectory()) continue;
    const path = join(foldersIn, entry.name);
    const owner = await stat(path).catch(() => undefined);
    if (owner === undefined || owner.uid !== process.getuid?.()) continue;
    found.push({ run: { pid: Number.parseInt(pid, 36), startTime: Number.parseInt(startTime, 36) }, path });
  }
  return found;
}

export interface MarkedProcess extends ProcessEntry {
  readonly marker: string;
}

/** The processes, other than this one, that a run of tests has started, directly or not. */
export async function markedProcesses(): Promise<MarkedProcess[]> {
  const others = (await listProcesses()).filter(({ pid }) => pid !== process.pid);
  const environments = await Promise.all(others.map(({ pid }) => environmentOf(pid)));
  return others.flatMap((each, index) => {
    const marker = environments[index]?.[markerName];
    return marker === undefined ? [] : [{ ...each, marker }];
  });
}
