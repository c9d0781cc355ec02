import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../base/index.ts';

/**
 * Identifies one process uniquely: a pid alone is reused, but not together with the time of its start, the boot, and the
 * namespaces.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start of the process in clock ticks since boot, field 22 of proc_pid_stat(5). */
  readonly startTicks: string;
  readonly bootId: string;
  /** The pid and time namespaces in which `pid` and `startTicks` are valid. */
  readonly namespace: string;
}

/** `unknown`: the process cannot be inspected from here, for example because it is in another pid namespace. */
export type Verdict = 'alive' | 'gone' | 'unknown';

/** Inspects processes. */
export interface ProcessProbe {
  self(): Promise<ProcessIdentity>;
  verdict(identity: ProcessIdentity): Promise<Verdict>;
  /** The command line and the systemd unit of a process, as far as they can be read. */
  describe(pid: number): Promise<{ command?: string; unit?: string }>;
}

export function createProcessProbe(procRoot = '/proc'): ProcessProbe {
  const host = async () => ({
    bootId: (await readFile(join(procRoot, 'sys/kernel/random/boot_id'), 'utf8')).trim(),
    namespace: await namespaceOf(procRoot),
  });
  return {
    async self() {
      const stat = await readStat(procRoot, process.pid);
      return { pid: process.pid, startTicks: stat?.startTicks ?? '', ...(await host()) };
    },
    async verdict(identity) {
      const here = await host();
      if (identity.bootId !== here.bootId) return 'gone';
      if (identity.namespace !== here.namespace) return 'unknown';
      if (!exists(identity.pid)) return 'gone';
      const stat = await readStat(procRoot, identity.pid);
      // With hidepid another user's process exists but cannot be looked at.
      if (stat === undefined) return exists(identity.pid) ? 'unknown' : 'gone';
      return stat.startTicks === identity.startTicks && stat.running ? 'alive' : 'gone';
    },
    async describe(pid) {
      const command = await readText(join(procRoot, String(pid), 'cmdline'));
      const cgroup = await readText(join(procRoot, String(pid), 'cgroup'));
      const unit = /([\w@.:\\-]+\.service)(?:\/|$)/m.exec(cgroup ?? '')?.[1];
      return {
        ...(command ? { command: toPrintable(command.replaceAll('\0', ' ').trim()) } : {}),
        ...(unit === undefined ? {} : { unit }),
      };
    },
  };
}

async function namespaceOf(procRoot: string): Promise<string> {
  const links = ['pid', 'time'].map(async (kind) => {
    try {
      return await readlink(join(procRoot, 'self/ns', kind));
    } catch {
      return `${kind}:[none]`; // a kernel without that sort of namespace
    }
  });
  return (await Promise.all(links)).join(' ');
}

async function readStat(procRoot: string, pid: number) {
  const text = await readText(join(procRoot, String(pid), 'stat'));
  if (text === undefined) return undefined;
  // The second field is the name in brackets, which may hold blanks and brackets itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', startTicks] = [fields[0], fields[19]];
  if (startTicks === undefined) return undefined;
  return { startTicks, running: !'ZXx'.includes(state) };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** One line of at most 200 characters. */
export function toPrintable(text: string): string {
  const plain = text.replaceAll(/\p{C}/gu, '?');
  return plain.length > 200 ? `${plain.slice(0, 199)}…` : plain;
}
