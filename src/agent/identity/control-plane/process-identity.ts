import { readFile } from 'node:fs/promises';

/** Identifies a process uniquely; a process id alone is reused. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks since boot, field 22 of /proc/PID/stat (proc_pid_stat(5)). */
  startTime: string;
  bootId: string;
  /** The command line, its words separated by blanks, truncated. */
  command: string;
}

const commandLimit = 4096;

/** undefined when there is no such process, or only a zombie. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const startTime = parseStartTime(await readFile(`/proc/${pid}/stat`, 'utf8'));
    if (startTime === undefined) return undefined;
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const command = words.replaceAll('\0', ' ').trim().slice(0, commandLimit);
    const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    return { pid, startTime, bootId, command };
  } catch {
    return undefined;
  }
}

export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return (
    one.pid === other.pid &&
    one.startTime === other.startTime &&
    one.bootId === other.bootId &&
    one.command === other.command
  );
}

function parseStartTime(stat: string): string | undefined {
  // the name in brackets may hold any character: the fields are counted from its end
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = 'X'] = fields;
  return state === 'Z' || state === 'X' ? undefined : fields[19];
}
