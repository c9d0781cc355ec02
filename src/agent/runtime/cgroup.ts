import { join } from 'node:path';
import { readRegularFile } from '../../base/index.ts';

/** What the kernel says of the control groups of a process, in either version. */
export interface Cgroups {
  /** Memory in use without file pages that can be dropped at once; undefined when it cannot be read. */
  memoryBytes(pid: number): Promise<number | undefined>;
  /** Whether the process is frozen; undefined when it cannot be read. */
  frozen(pid: number): Promise<boolean | undefined>;
}

/** `root` stands for the root of the file system; tests pass a folder. */
export function openCgroups(root: string): Cgroups {
  return {
    async memoryBytes(pid) {
      const folder = await cgroupFolder(root, pid, 'memory');
      if (!folder) return undefined;
      const used = Number(await read(join(folder.path, folder.unified ? 'memory.current' : usageV1)));
      if (!Number.isSafeInteger(used)) return undefined;
      const stat = await read(join(folder.path, 'memory.stat'));
      const key = folder.unified ? 'inactive_file' : 'total_inactive_file';
      return Math.max(0, used - (numberOf(stat, key) ?? 0));
    },
    async frozen(pid) {
      const folder = await cgroupFolder(root, pid, 'freezer');
      if (!folder) return undefined;
      if (!folder.unified) {
        const state = (await read(join(folder.path, 'freezer.state')))?.trim();
        return state === undefined ? undefined : state !== 'THAWED';
      }
      const value = numberOf(await read(join(folder.path, 'cgroup.events')), 'frozen');
      return value === undefined ? undefined : value === 1;
    },
  };
}

const usageV1 = 'memory.usage_in_bytes';

interface Folder {
  path: string;
  /** Of version 2, with one tree for all controllers. */
  unified: boolean;
}

/** A controller's own tree (version 1) if the process is in one, else the unified tree. */
async function cgroupFolder(root: string, pid: number, controller: string): Promise<Folder | undefined> {
  const lines = (await read(join(root, 'proc', String(pid), 'cgroup')))?.split('\n') ?? [];
  const entries = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const own = entries.find((entry) => entry?.[1]?.split(',').includes(controller))?.[2];
  const unified = entries.find((entry) => entry?.[1] === '')?.[2];
  const mount = join(root, 'sys/fs/cgroup');
  if (own !== undefined) return { path: join(mount, controller, own), unified: false };
  return unified === undefined ? undefined : { path: join(mount, unified), unified: true };
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path, { limitBytes: 64 * 1024 })).toString('utf8');
  } catch {
    return undefined; // the process has ended, or the kernel has no such controller
  }
}

/** The number behind `key` in lines of `key number`. */
function numberOf(text: string | undefined, key: string): number | undefined {
  const value = text
    ?.split('\n')
    .map((line) => line.split(' '))
    .find(([name]) => name === key)?.[1];
  return value === undefined ? undefined : Number(value);
}
