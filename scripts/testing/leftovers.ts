import { readdir } from 'node:fs/promises';
import type { ProcessEntry } from '../../test/support/index.ts';
import {
  cgroupName,
  environmentOf,
  listProcesses,
  removeCgroup,
  sendSignal,
  unmountBelow,
  waitFor,
} from '../../test/support/index.ts';

/** Names the test file's run in the environment of every process that comes from it. */
export const markerName = 'NODEWARD_TEST_FILE';

/** The processes that were started, directly or not, by the run with that marker. */
export async function processesOf(marker: string): Promise<ProcessEntry[]> {
  const own = (await listProcesses()).filter(({ pid }) => pid !== process.pid);
  const environments = await Promise.all(own.map(({ pid }) => environmentOf(pid)));
  return own.filter((_, index) => environments[index]?.[markerName] === marker);
}

/** SIGKILL to all of them, by pid. */
export async function killProcessesOf(marker: string): Promise<void> {
  for (const { pid } of await processesOf(marker)) sendSignal(pid, 'SIGKILL');
}

/**
 * What a test file left behind although it has ended: processes (those about to end are given a second), and
 * mounts and cgroups that belong to something in its temporary folder. They are removed, and returned as
 * sentences.
 */
export async function removeLeftovers(marker: string, folder: string): Promise<string[]> {
  const ended = async (): Promise<boolean> => (await processesOf(marker)).length === 0;
  await waitFor('processes to end', ended, { timeoutMs: 1000, intervalMs: 50 }).catch(() => undefined);
  const processes = await processesOf(marker);
  for (const { pid } of processes) sendSignal(pid, 'SIGKILL');
  const cgroups: string[] = [];
  for (const name of (await readdir(folder)).map(cgroupName)) {
    if (await removeCgroup(name)) cgroups.push(name);
  }
  const mounts = await unmountBelow(folder);
  return [
    ...processes.map(({ pid, argv }) => `left process ${pid} running: ${argv.join(' ').slice(0, 200)}`),
    ...cgroups.map((name) => `left cgroup ${name}`),
    ...mounts.map((path) => `left ${path} mounted`),
  ];
}
