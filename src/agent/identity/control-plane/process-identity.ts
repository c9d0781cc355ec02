import { readFile } from 'node:fs/promises';

/** What names a process for good: ids are used again. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot, field 22 of /proc/PID/stat (proc_pid_stat(5)). */
  startTime: string;
  bootId: string;
  /** What it was started with, the words parted by blanks, cut. */
  command: string;
}

const commandLimit = 4096;

/** undefined when there is no such process, or only what is left of it (a zombie). */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const startTime = startTimeIn(await readFile(`/proc/${pid}/stat`, 'utf8'));
    if (startTime === undefined) return undefined;
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const command = words.replaceAll('\0', ' ').trim().slice(0, commandLimit);
    const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    return { pid, startTime, bootId, command };
  } catch {
    return undefined;
  }
}

export function sameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return (
    one.pid === other.pid &&
    one.startTime === other.startTime &&
    one.bootId === other.bootId &&
    one.command === other.command
  );
}

function startTimeIn(stat: string): string | undefined {
  // the name in brackets may hold anything: the fields are counted from its end
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = 'X'] = fields;
  return state === 'Z' || state === 'X' ? undefined : fields[19];
}
