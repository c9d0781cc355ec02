import { readdir } from 'node:fs/promises';
import { cgroupName, removeCgroup } from './cgroups.ts';
import { unmountBelow } from './mounts.ts';
import { sendSignal } from './process-table.ts';
import type { MarkedProcess } from './test-run.ts';
import { markedProcesses } from './test-run.ts';
import { waitFor } from './wait-for.ts';

async function processesOf(marker: string): Promise<MarkedProcess[]> {
  return (await markedProcesses()).filter((each) => each.marker === marker);
}

/** SIGKILL to all that a test file's process has started, directly or not, and to itself; by pid. */
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
  const { cgroups, mounts } = await releaseFolder(folder);
  return [
    ...processes.map(({ pid, argv }) => `left process ${pid} running: ${argv.join(' ').slice(0, 200)}`),
    ...cgroups.map((name) => `left cgroup ${name}`),
    ...mounts.map((path) => `left ${path} mounted`),
  ];
}

/** Removes the cgroups of what ran with a folder in this one as its own, and unmounts everything below it. */
export async function releaseFolder(folder: string): Promise<{ cgroups: string[]; mounts: string[] }> {
  const cgroups: string[] = [];
  for (const name of (await readdir(folder)).map(cgroupName)) {
    if (await removeCgroup(name)) cgroups.push(name);
  }
  return { cgroups, mounts: await unmountBelow(folder) };
}
