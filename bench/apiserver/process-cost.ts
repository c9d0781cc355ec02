import { readFile } from 'node:fs/promises';

const ticksPerSecond = 100; // USER_HZ, the same on every Linux

/** CPU time that all threads of a process have used so far, in milliseconds. */
export async function cpuMs(pid: number): Promise<number> {
  return await timesMs(pid, 11);
}

/** CPU time of the programs that a process has run and that have ended, in milliseconds. */
export async function programsMs(pid: number): Promise<number> {
  return await timesMs(pid, 13);
}

/** The sum of the user and the system time, which follow each other. */
async function timesMs(pid: number, first: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[first]) + Number(fields[first + 1]);
  return (ticks * 1000) / ticksPerSecond;
}

/** Memory of a process in MiB, with its share of what it shares (PSS). */
export async function pssMiB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1];
  return Number(kibibytes) / 1024;
}

/** The monotonic clock of the machine, the same for all its processes, in milliseconds. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
