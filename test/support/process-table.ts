import { readdir, readFile } from 'node:fs/promises';

/** A process as /proc shows it. Pid and start time together name it for good; a pid alone is used again. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** In clock ticks since the boot. */
  readonly startTime: number;
  /** R, S, D, T, Z … */
  readonly state: string;
  /** Empty for kernel threads and zombies. */
  readonly argv: readonly string[];
}

/** The process with that pid, undefined when there is none. A zombie is still there, with state Z. */
export async function findProcess(pid: number): Promise<ProcessEntry | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const argv = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    const [state = '', parent] = fieldsOf(stat);
    return { pid, parent: Number(parent), startTime: startTimeIn(stat), state, argv };
  } catch {
    return undefined;
  }
}

/** The start time in the text of a /proc/PID/stat, in clock ticks since the boot. */
export function startTimeIn(stat: string): number {
  return Number(fieldsOf(stat)[19]);
}

/** From the third field on: the second is the command in parentheses and may itself hold blanks and parentheses. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** True while a process with that pid exists and is no zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  const found = await findProcess(pid);
  return found !== undefined && found.state !== 'Z';
}

/** Every process of this machine that can be seen and is no zombie. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(findProcess));
  return found.filter((each) => each !== undefined).filter((each) => each.state !== 'Z');
}

export async function childrenOf(pid: number): Promise<ProcessEntry[]> {
  return (await listProcesses()).filter((each) => each.parent === pid);
}

/** The environment a process was started with; empty when it is gone or belongs to somebody else. */
export async function environmentOf(pid: number): Promise<Record<string, string>> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  const entries = text.split('\0').filter((entry) => entry.includes('='));
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}

/** Resident memory in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`process ${pid} has no memory of its own`);
  return Number(kibibytes) * 1024;
}

/** Sends a signal; a process that is gone already is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
