import { readlinkSync } from 'node:fs';
import { readKernelFile } from '../../base/index.ts';

/** More are not looked at: it is asked for when a container has just begun. */
const maxProcesses = 256;
/** The namespace in which the kernel's log counts (linux: include/linux/proc_ns.h, PROC_PID_INIT_INO). */
const firstNamespace = 'pid:[4026531836]';

/**
 * The first process of a container that runs, of those in its group: the oldest, since the container ends with it. Undefined where
 * none can be seen, and where this process has another namespace of process numbers than the kernel's log.
 */
export function findFirstProcess(pids: readonly number[], procDir = '/proc'): number | undefined {
  if (readNamespace(procDir) !== firstNamespace) return undefined;
  let oldest: { readonly pid: number; readonly started: number } | undefined;
  for (const pid of pids.slice(0, maxProcesses)) {
    const started = startOf(readKernelFile(`${procDir}/${pid}/stat`));
    const isOlder = oldest === undefined || (started ?? 0) < oldest.started;
    if (started !== undefined && isOlder) oldest = { pid, started };
  }
  return oldest?.pid;
}

/** When it was started, in ticks: field 22 of proc_pid_stat(5). Its name, the second, may have blanks and brackets. */
function startOf(stat: string | undefined): number | undefined {
  const [, rest] = /^\d+ \(.*\) (.*)$/s.exec(stat ?? '') ?? [];
  const started = Number(rest?.split(' ')[19] ?? Number.NaN);
  return Number.isFinite(started) ? started : undefined;
}

function readNamespace(procDir: string): string | undefined {
  try {
    return readlinkSync(`${procDir}/self/ns/pid`);
  } catch {
    return undefined;
  }
}
