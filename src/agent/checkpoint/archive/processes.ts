import type { MemoryFacts, OpenFile, ProcessFacts } from './contents.ts';
import { kindOf } from './file-names.ts';
import type { Harvest } from './harvest.ts';
import { limits } from './limits.ts';

/** Puts together what the images say of each process. Parents come before their children. */
export function processesIn(harvest: Harvest): ProcessFacts[] {
  const { tree, tasks, descriptors } = harvest;
  for (const table of descriptors.values()) table.sort((a, b) => a.fd - b.fd);
  return treeOrder(tree).map((pid) => {
    const { ppid = 0, threads = 1 } = tree.get(pid) ?? {};
    const task = tasks.get(pid);
    if (task === undefined) harvest.notes.add(`nothing is known of process ${pid} but its number`);
    return {
      pid,
      ppid,
      comm: task?.comm ?? '',
      state: stateOf(task?.state),
      threads: Math.max(1, threads),
      memory: memoryOf(pid, harvest),
      files: filesOf(pid, harvest),
    };
  });
}

/** Who is in a circle, or has a parent that is not there, stands at the end. */
function treeOrder(tree: Harvest['tree']): number[] {
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

const stateOf = (state: number | undefined): ProcessFacts['state'] => states[state ?? 0] ?? 'unknown';

function memoryOf(pid: number, { memory, privateBytes, sharedBytes }: Harvest): MemoryFacts {
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

/** Many processes may use one table of many files. */
function filesOf(pid: number, { tables, descriptors, files, budget }: Harvest): OpenFile[] {
  const found: OpenFile[] = [];
  for (const { fd, file, type } of descriptors.get(tables.get(pid) ?? Number.NaN) ?? []) {
    if (!budget.room('files of all processes', limits.openFiles)) break;
    found.push({ fd, ...(files.get(file) ?? { kind: kindOf(type), name: '' }) });
  }
  return found;
}
