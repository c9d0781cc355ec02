/**
 * What outlives a containerd, and how it is ended: runc's containers (paused ones are thawed first, or a
 * SIGKILL waits for ever with cgroup v1), the shims, mounts, the shims' sockets outside the folder, cgroups.
 * None of it needs the containerd to be alive.
 */
import { glob, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessEntry, runCommand } from '../../support/index.ts';
import {
  isAlive,
  listProcesses,
  removeCgroup,
  sendSignal,
  unmountBelow,
  waitFor,
} from '../../support/index.ts';

export interface Remains {
  folder: string;
  socket: string;
  runc: string;
  cgroup: string;
  /** Runs a command where the containers' file systems are mounted. */
  run: typeof runCommand;
}

export async function removeRemains({ folder, socket, runc, cgroup, run }: Remains): Promise<void> {
  const shims = await findShims(socket);
  const sockets = await shimSockets(folder);
  await deleteContainers(join(folder, 'runc/k8s.io'), runc, run);
  await endProcesses(shims);
  await unmountBelow(folder);
  await Promise.all(sockets.map((path) => rm(path, { force: true })));
  await removeCgroup(cgroup);
}

/** Every shim is told its containerd's address on its command line. */
async function findShims(socket: string): Promise<ProcessEntry[]> {
  return (await listProcesses()).filter(({ argv }) => argv[argv.indexOf('-address') + 1] === socket);
}

async function deleteContainers(root: string, runc: string, run: Remains['run']): Promise<void> {
  for (const id of await readdir(root).catch(() => [])) {
    await run(runc, ['--root', root, 'resume', id]);
    await run(runc, ['--root', root, 'delete', '--force', id]);
  }
}

async function endProcesses(processes: readonly ProcessEntry[]): Promise<void> {
  const gone = async (): Promise<boolean> => {
    const alive = await Promise.all(processes.map(({ pid }) => isAlive(pid)));
    return !alive.includes(true);
  };
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const { pid } of processes) sendSignal(pid, signal);
    if (await waitFor('the shims to end', gone, { timeoutMs: 2000 }).catch(() => false)) return;
  }
  throw new Error(`shims that do not end: ${processes.map(({ pid }) => pid).join(', ')}`);
}

/** Version 1.6 notes a shim's address in `address`, later ones in `bootstrap.json`; both below /run. */
async function shimSockets(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(join(folder, 'state/*/k8s.io/*/{address,bootstrap.json}'))) {
    const socket = /unix:\/\/([^"\s]+)/.exec(await readFile(path, 'utf8'))?.[1];
    if (socket !== undefined) found.push(socket);
  }
  return found;
}
