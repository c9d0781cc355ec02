import type { MemoryFacts, OpenFile, ProcessFacts } from './contents.ts';
import { formatFileKind } from './describe-file.ts';
import type { ImageData } from './image-data.ts';
import { limits } from './limits.ts';

/** Combines the data of all images for each process. Parents come before their children. */
export function composeProcesses(data: ImageData): ProcessFacts[] {
  const { tree, tasks, descriptors } = data;
  for (const table of descriptors.values()) table.sort((a, b) => a.fd - b.fd);
  return orderTree(tree).map((pid) => {
    const { ppid = 0, threads = 1 } = tree.get(pid) ?? {};
    const task = tasks.get(pid);
    if (task === undefined) data.notes.add(`nothing is known of process ${pid} but its number`);
    return {
      pid,
      ppid,
      comm: task?.comm ?? '',
      state: formatState(task?.state),
      threads: Math.max(1, threads),
      memory: computeMemory(pid, data),
      files: listFiles(pid, data),
    };
  });
}

/** Pids, parents before their children; processes of a cycle, which hostile archives may have, come last. */
function orderTree(tree: ImageData['tree']): number[] {
  const children = new Map<number, number[]>();
  for (const [pid, { ppid }] of tree) {
    const siblings = children.get(ppid) ?? [];
    children.set(ppid, siblings);
    siblings.push(pid);
  }
  for (const siblings of children.values()) siblings.sort((a, b) => b - a);
  const ordered = new Set<number>();
  const waiting = [...tree].filter(([, { ppid }]) => !tree.has(ppid)).map(([pid]) => pid);
  waiting.sort((a, b) => b - a);
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    if (ordered.has(pid)) continue;
    ordered.add(pid);
    for (const child of children.get(pid) ?? []) waiting.push(child);
  }
  return [...ordered, ...[...tree.keys()].filter((pid) => !ordered.has(pid))];
}

const states: Readonly<Record<number, ProcessFacts['state']>> = {
  1: 'alive',
  2: 'dead',
  3: 'stopped',
  6: 'zombie',
};

const formatState = (state: number | undefined): ProcessFacts['state'] => states[state ?? 0] ?? 'unknown';

function computeMemory(pid: number, { memory, privateBytes, sharedBytes }: ImageData): MemoryFacts {
  const { virtualBytes = 0, heapBytes = 0, areas = 0, shared = [] } = memory.get(pid) ?? {};
  const ofShared = [...shared].map((shmid) => sharedBytes.get(shmid) ?? 0);
  return {
    virtualBytes,
    privateBytes: privateBytes.get(pid) ?? 0,
    sharedBytes: ofShared.reduce((sum, bytes) => sum + bytes, 0),
    heapBytes,
    areas,
  };
}

/** Bounded in total: many processes may share one table of many files. */
function listFiles(pid: number, { tables, descriptors, files, budget }: ImageData): OpenFile[] {
  const found: OpenFile[] = [];
  for (const { fd, file, type } of descriptors.get(tables.get(pid) ?? Number.NaN) ?? []) {
    if (!budget.admit('files of all processes', limits.openFiles)) break;
    found.push({ fd, ...(files.get(file) ?? { kind: formatFileKind(type), name: '' }) });
  }
  return found;
}
