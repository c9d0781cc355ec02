import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readKernelFile, readKernelFolder } from '../../base/index.ts';
import { formatPageSize } from './huge-pages.ts';
import type { NodeCgroups } from './linux-resources.ts';

/** Reads what the cgroups of this machine can do. `root` stands for the root of the file system; tests pass a folder. */
export function readNodeCgroups(root: string, killsSingleProcess: boolean): NodeCgroups {
  const mount = join(root, 'sys/fs/cgroup');
  const version = existsSync(join(mount, 'cgroup.controllers')) ? 2 : 1;
  return {
    version,
    hasSwapLimit: existsSync(
      version === 2 ? ownSwapFile(root, mount) : join(mount, 'memory/memory.memsw.limit_in_bytes'),
    ),
    pageSizes: readPageSizes(join(root, 'sys/kernel/mm/hugepages')),
    killsSingleProcess,
  };
}

/** The root of version 2 has no such file, but every other group has it, also that of this process. */
function ownSwapFile(root: string, mount: string): string {
  const own = /^0::(\/.*)$/m.exec(readKernelFile(join(root, 'proc/self/cgroup')) ?? '')?.[1] ?? '/';
  return join(mount, own, 'memory.swap.max');
}

function readPageSizes(folder: string): string[] {
  const kibibytes = readKernelFolder(folder).map((name) => Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]));
  return kibibytes
    .filter((size) => size > 0)
    .sort((left, right) => left - right)
    .map((size) => formatPageSize(size * 1024));
}
