import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/index.ts';

/** A tree of files that stand for those of the kernel, which are there at once where a folder is made. */
export async function fakeTree(version: 1 | 2, folders: readonly string[]) {
  const folder = await temporaryFolder();
  const hierarchies = version === 2 ? [''] : ['cpu', 'cpuset', 'memory', 'pids', 'systemd', 'unified'];
  for (const hierarchy of hierarchies) {
    for (const each of ['', ...folders]) {
      const path = join(folder.path, hierarchy, each);
      await mkdir(path, { recursive: true });
      for (const [file, text] of filesOf(version, hierarchy, each)) await writeFile(join(path, file), text);
    }
  }
  return folder;
}

function filesOf(version: 1 | 2, hierarchy: string, folder: string): [string, string][] {
  const procs: [string, string] = ['cgroup.procs', ''];
  if (version === 2) {
    const names = ['cpu.weight', 'cpu.max', 'memory.max', 'pids.max', 'cgroup.subtree_control'];
    const own = names.map((name): [string, string] => [name, '']);
    return [procs, ['cgroup.controllers', 'cpu memory pids rdma'], ...own];
  }
  const files: Record<string, [string, string][]> = {
    cpu: ['cpu.shares', 'cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) => [name, '']),
    cpuset: ['cpuset.cpus', 'cpuset.mems'].map((name) => [name, folder === '' ? '0-1\n' : '\n']),
    memory: [['memory.limit_in_bytes', '']],
    pids: [['pids.max', '']],
    unified: [['cgroup.controllers', '']],
  };
  return [procs, ...(files[hierarchy] ?? [])];
}
