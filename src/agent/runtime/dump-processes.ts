import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../base/index.ts';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly argv: readonly string[];
}

/**
 * Kills what dumps the container: the low-level runtime that was started with `checkpoint … ID`, and criu below it. While these
 * hang, the container can be neither thawed nor stopped. Returns how many there were. `root` is that of the file system.
 */
export async function killDumpProcesses(
  containerId: string,
  root: string,
  kill: (pid: number) => void = killAtOnce,
): Promise<number> {
  const processes = await listProcesses(join(root, 'proc'));
  const dumps = processes.filter((each) => isDumpOf(each, containerId));
  const found = new Set(dumps.map(({ pid }) => pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of processes) if (found.has(parent)) found.add(pid);
  }
  for (const pid of found) kill(pid);
  return found.size;
}

/**
 * Whether something may still dump the container: the low-level runtime that was started for it, or a criu that has outlived the
 * one that started it, of which nothing says for which container it works. Processes in containers do not count, whatever they
 * call themselves.
 */
export async function mayBeDumped(containerId: string, root: string): Promise<boolean> {
  const processes = await listProcesses(join(root, 'proc'));
  const isStarter = ({ argv }: Process) => argv.includes('checkpoint') || argv.includes('restore');
  const starters = new Set(processes.filter(isStarter).map(({ pid }) => pid));
  const isOrphan = ({ argv, parent }: Process) =>
    /(?:^|\/)criu$/.test(argv[0] ?? '') && argv.includes('swrk') && !starters.has(parent);
  const found = processes.filter((each) => isDumpOf(each, containerId) || isOrphan(each));
  const host = await pidNamespaceOf(root, 1);
  const namespaces = await Promise.all(found.map(({ pid }) => pidNamespaceOf(root, pid)));
  return namespaces.includes(host);
}

/** Undefined for one that is gone. */
const pidNamespaceOf = (root: string, pid: number) =>
  readlink(join(root, 'proc', String(pid), 'ns/pid')).catch(() => undefined);

const isDumpOf = ({ argv }: Process, containerId: string) =>
  argv.includes('checkpoint') && argv.includes(containerId);

function killAtOnce(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

async function listProcesses(proc: string): Promise<Process[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readProcess(join(proc, pid), Number(pid))));
  return found.filter((each) => each !== undefined);
}

/** Undefined for one that is gone. */
async function readProcess(folder: string, pid: number): Promise<Process | undefined> {
  try {
    const stat = await readFile(join(folder, 'stat'), 'utf8');
    // the name in brackets may hold any character: the fields are counted from its end
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const argv = (await readFile(join(folder, 'cmdline'), 'utf8')).split('\0');
    return { pid, parent: Number(parent), argv };
  } catch {
    return undefined;
  }
}
