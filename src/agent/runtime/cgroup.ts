import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findKernelCount, parseKernelCount, readRegularFile } from '../../base/index.ts';

/** Reads the control groups of a process, in either version. */
export interface Cgroups {
  /**
   * Memory in use without file pages that can be dropped at once, plus what is swapped out; undefined when it cannot be
   * read. With a container's id that of the whole container: its first process may be in a subgroup.
   */
  memoryBytes(pid: number, containerId?: string): Promise<number | undefined>;
  /** Whether the process is frozen; undefined when it cannot be read. */
  frozen(pid: number): Promise<boolean | undefined>;
  /**
   * Has the kernel let the processes of the container's group go on, whatever its runtime says; its first process may be in a
   * subgroup. Rejects where that is not permitted, and where it has no effect.
   */
  thaw(pid: number, containerId: string): Promise<void>;
  /** The same for repeated reads; undefined when there is no freezer. The caller closes it. */
  openFreezer(pid: number): Promise<Freezer | undefined>;
}

export interface Freezer extends AsyncDisposable {
  /** undefined when it can no longer be read: the container has ended. */
  frozen(): Promise<boolean | undefined>;
}

/** `root` stands for the root of the file system; tests pass a folder. */
export function openCgroups(root: string): Cgroups {
  return {
    async memoryBytes(pid, containerId) {
      const folder = await cgroupFolder(root, pid, 'memory');
      if (!folder) return undefined;
      const { unified, path } = containerId === undefined ? folder : toContainerGroup(folder, containerId);
      const used = parseKernelCount(await read(join(path, unified ? 'memory.current' : usageV1)));
      if (used === undefined) return undefined;
      const stat = await read(join(path, 'memory.stat'));
      const droppable = findKernelCount(stat, unified ? 'inactive_file' : 'total_inactive_file') ?? 0;
      const swapped = unified
        ? parseKernelCount(await read(join(path, 'memory.swap.current')))
        : findKernelCount(stat, 'total_swap');
      return Math.max(0, used - droppable) + (swapped ?? 0);
    },
    async frozen(pid) {
      const file = await freezerFile(root, pid);
      return file && isFrozen(file, await read(file.path));
    },
    async thaw(pid, containerId) {
      const folder = await cgroupFolder(root, pid, 'freezer');
      if (folder === undefined) return;
      const { path, unified } = toContainerGroup(folder, containerId);
      const [name, text] = unified ? ['cgroup.freeze', '0'] : ['freezer.state', 'THAWED'];
      await writeFile(join(path, name), text);
      const file = await freezerFile(root, pid);
      if (file !== undefined && isFrozen(file, await read(file.path)) === true)
        throw new Error(`${join(path, name)} was written, and the container is frozen still`);
    },
    async openFreezer(pid) {
      const file = await freezerFile(root, pid);
      return file && (await openFreezer(file));
    },
  };
}

const usageV1 = 'memory.usage_in_bytes';

interface Place {
  path: string;
  /** Whether it is of version 2, with one tree for all controllers. */
  unified: boolean;
}

async function freezerFile(root: string, pid: number): Promise<Place | undefined> {
  const folder = await cgroupFolder(root, pid, 'freezer');
  return folder && { ...folder, path: join(folder.path, folder.unified ? 'cgroup.events' : 'freezer.state') };
}

function isFrozen({ unified }: Place, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (!unified) return text.trim() !== 'THAWED';
  const value = findKernelCount(text, 'frozen');
  return value === undefined ? undefined : value === 1;
}

/** The kernel generates the content again for each read from the start. */
async function openFreezer(file: Place): Promise<Freezer | undefined> {
  const handle = await open(file.path, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  const buffer = Buffer.alloc(256);
  return {
    async frozen() {
      const read = await handle.read(buffer, 0, buffer.length, 0).catch(() => undefined);
      return read && isFrozen(file, buffer.toString('utf8', 0, read.bytesRead));
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** A controller's own tree (version 1) if the process is in one, else the unified tree. */
async function cgroupFolder(root: string, pid: number, controller: string): Promise<Place | undefined> {
  const lines = (await read(join(root, 'proc', String(pid), 'cgroup')))?.split('\n') ?? [];
  const entries = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const own = entries.find((entry) => entry?.[1]?.split(',').includes(controller))?.[2];
  const unified = entries.find((entry) => entry?.[1] === '')?.[2];
  const mount = join(root, 'sys/fs/cgroup');
  if (own !== undefined) return { path: join(mount, controller, own), unified: false };
  return unified === undefined ? undefined : { path: join(mount, unified), unified: true };
}

/** Runtimes name a container's group by its id. */
function toContainerGroup({ path, unified }: Place, containerId: string): Place {
  const steps = path.split('/');
  const at = steps.findIndex((step) => step.includes(containerId));
  return { path: at < 0 ? path : steps.slice(0, at + 1).join('/'), unified };
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path, { limitBytes: 64 * 1024 })).toString('utf8');
  } catch {
    return undefined; // the process has ended, or the kernel has no such controller
  }
}
