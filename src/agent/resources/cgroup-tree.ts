import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, errorCode, readKernelFile } from '../../base/index.ts';
import type { GroupPath, Hierarchies } from '../usage/index.ts';
import { weightOf } from './cpu-share.ts';
import type { GroupLimits } from './pod-limits.ts';

/*
 * The control groups of this machine as folders. Version 2 has one tree, in which a folder hands controllers on to those in
 * it. Version 1 has a tree for each controller (or several that are mounted together), often beside an empty tree of
 * version 2. The runtime makes folders in all of them, so all of them are looked at when a group goes.
 */

export interface CgroupTree extends Hierarchies {
  /** Of all hierarchies, also of those without controllers. */
  readonly allRoots: readonly string[];
}

/** Throws when no control groups are mounted there. */
export function openCgroupTree(mountRoot = '/sys/fs/cgroup'): CgroupTree {
  if (existsSync(join(mountRoot, 'cgroup.controllers'))) {
    return { version: 2, roots: [mountRoot], allRoots: [mountRoot] };
  }
  const allRoots = listFolders(mountRoot).filter((folder) => existsSync(join(folder, 'cgroup.procs')));
  const roots = allRoots.filter((folder) => !hasNoController(folder));
  if (roots.length > 0) return { version: 1, roots, allRoots };
  throw new Error(
    `${mountRoot} has no control groups: mount cgroup2 there, or the hierarchies of version 1 in it`,
  );
}

/** Those named `systemd` and `unified` serve the init system. */
function hasNoController(folder: string): boolean {
  return existsSync(join(folder, 'cgroup.controllers')) || folder.endsWith('/systemd');
}

/** Without links: a controller that is mounted with another has a link beside the folder of both. */
export function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name))
      .sort();
  } catch {
    return [];
  }
}

/** Creates the folder and those above it, in every hierarchy, so that processes and limits can go into it. */
export async function makeGroup(tree: CgroupTree, path: GroupPath): Promise<void> {
  if (tree.version === 2) for (const root of tree.roots) await makeUnified(root, path);
  else for (const root of tree.roots) await makeSeparate(root, path);
}

async function makeUnified(root: string, path: GroupPath): Promise<void> {
  let folder = root;
  await handOn(folder);
  for (const name of path) {
    folder = join(folder, name);
    await makeFolder(folder);
    await handOn(folder);
  }
}

/** The last folder first: for a pod those above are there already, in each of a dozen hierarchies. */
async function makeSeparate(root: string, path: GroupPath): Promise<void> {
  const hasCpuset = existsSync(join(root, cpusetFiles[0]));
  if (await makeIfParentExists(join(root, ...path))) {
    if (!hasCpuset || (await fillCpuset(join(root, ...path), join(root, ...path.slice(0, -1))))) return;
  }
  let folder = root;
  for (const name of path) {
    const parent = folder;
    folder = join(folder, name);
    await makeFolder(folder);
    if (hasCpuset) await fillCpuset(folder, parent);
  }
}

/** Returns whether it is there now; false: that above it is missing. */
async function makeIfParentExists(folder: string): Promise<boolean> {
  try {
    await makeFolder(folder);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return false;
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o755 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Lets the folders in this one have the controllers that it has. One that the kernel keeps back (cpu while there are
 * real-time processes) costs its limits and no more; `missingControllers` tells.
 */
async function handOn(folder: string): Promise<void> {
  const available = wordsOf(join(folder, 'cgroup.controllers'));
  const enabled = new Set(wordsOf(join(folder, 'cgroup.subtree_control')));
  for (const controller of available.filter((each) => wantedControllers.has(each) && !enabled.has(each))) {
    await write(folder, 'cgroup.subtree_control', `+${controller}`).catch(() => undefined);
  }
}

const wantedControllers = new Set(['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids']);

/** Of cpu, memory and pids those by which the group cannot be limited. */
export function missingControllers({ version, roots }: CgroupTree, path: GroupPath): string[] {
  const files =
    version === 2
      ? ['cpu.weight', 'memory.max', 'pids.max']
      : ['cpu.shares', 'memory.limit_in_bytes', 'pids.max'];
  const missing = files.filter((file) => !roots.some((root) => existsSync(join(root, ...path, file))));
  return missing.map((file) => file.slice(0, file.indexOf('.')));
}

const cpusetFiles = ['cpuset.cpus', 'cpuset.mems'] as const;

/**
 * In version 1 no process can enter a new folder before it has cpus and nodes of memory. Returns whether it has them; it cannot
 * while that above it has none.
 */
async function fillCpuset(folder: string, parent: string): Promise<boolean> {
  let isFilled = true;
  for (const file of cpusetFiles) {
    if (readKernelFile(join(folder, file))?.trim() !== '') continue;
    const above = readKernelFile(join(parent, file))?.trim() ?? '';
    if (above === '') isFilled = false;
    else await write(folder, file, above);
  }
  return isFilled;
}

function wordsOf(path: string): string[] {
  return (readKernelFile(path) ?? '').split(/\s+/).filter((word) => word !== '');
}

/** Writes the limits to each hierarchy that knows them. */
export async function limitGroup(tree: CgroupTree, path: GroupPath, limits: GroupLimits): Promise<void> {
  const values = tree.version === 2 ? unifiedValues(limits) : separateValues(limits);
  for (const root of tree.roots) {
    const folder = join(root, ...path);
    for (const [file, value] of values) if (existsSync(join(folder, file))) await write(folder, file, value);
  }
}

function unifiedValues({
  cpuShares,
  cpuQuota,
  memoryBytes,
  hugePages,
  pids,
}: GroupLimits): [string, string][] {
  return [
    ...entryOf('cpu.weight', cpuShares === undefined ? undefined : weightOf(cpuShares)),
    ...entryOf('cpu.max', cpuQuota === undefined ? undefined : `${cpuQuota.quotaUs} ${cpuQuota.periodUs}`),
    ...entryOf('memory.max', memoryBytes),
    ...entryOf('pids.max', pids),
    ...[...(hugePages ?? [])].map(([size, bytes]): [string, string] => [
      `hugetlb.${size}.max`,
      String(bytes),
    ]),
  ];
}

function separateValues({
  cpuShares,
  cpuQuota,
  memoryBytes,
  hugePages,
  pids,
}: GroupLimits): [string, string][] {
  return [
    ...entryOf('cpu.shares', cpuShares),
    ...entryOf('cpu.cfs_period_us', cpuQuota?.periodUs),
    ...entryOf('cpu.cfs_quota_us', cpuQuota?.quotaUs),
    ...entryOf('memory.limit_in_bytes', memoryBytes),
    ...entryOf('pids.max', pids),
    ...[...(hugePages ?? [])].map(([size, bytes]): [string, string] => [
      `hugetlb.${size}.limit_in_bytes`,
      String(bytes),
    ]),
  ];
}

function entryOf(file: string, value: number | string | undefined): [string, string][] {
  return value === undefined ? [] : [[file, String(value)]];
}

async function write(folder: string, file: string, value: string): Promise<void> {
  const path = join(folder, file);
  try {
    await writeFile(path, value, { flag: 'r+' });
  } catch (error) {
    throw new Error(`cannot write ${value} to ${path}: ${describeError(error)}`, { cause: error });
  }
}

/** Whether every hierarchy has it. */
export function hasGroup({ roots }: CgroupTree, path: GroupPath): boolean {
  return roots.every((root) => existsSync(join(root, ...path)));
}

/** The folder in each hierarchy where it exists, also in those without controllers. */
export function foldersOf({ allRoots }: CgroupTree, path: GroupPath): string[] {
  return allRoots.map((root) => join(root, ...path)).filter((folder) => existsSync(folder));
}

/** The folder and all in it, the innermost first. */
export function foldersWithin(folder: string): string[] {
  return [...listFolders(folder).flatMap(foldersWithin), folder];
}

/** The processes in one folder that can be seen from here. */
export function processesIn(folder: string): number[] {
  return wordsOf(join(folder, 'cgroup.procs'))
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid) && pid > 1); // 0: outside of this namespace, and for kill it is the own group
}

/** Lets no process of the folder, or of one in it, run until `thawFolder`, where the folder can do that. */
export async function freezeFolder(folder: string): Promise<void> {
  await writeFreezer(folder, { v1: 'FROZEN', v2: '1' });
}

/** Lets frozen processes run: with version 1 they could not even be killed. */
export async function thawFolder(folder: string): Promise<void> {
  await writeFreezer(folder, { v1: 'THAWED', v2: '0' });
}

/** The group may go meanwhile; what could not be frozen is only killed less surely. */
async function writeFreezer(folder: string, { v1, v2 }: { v1: string; v2: string }): Promise<void> {
  for (const [file, value] of [
    ['freezer.state', v1],
    ['cgroup.freeze', v2],
  ] as const) {
    if (existsSync(join(folder, file))) await write(folder, file, value).catch(() => undefined);
  }
}

/** Returns whether it is gone; false while there are processes or folders in it. */
export async function removeFolder(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}
