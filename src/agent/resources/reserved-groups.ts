import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeError } from '../../base/index.ts';
import type { GroupPath } from '../usage/index.ts';
import { GroupFiles } from '../usage/index.ts';
import type { CgroupDriver } from './cgroup-names.ts';
import { existingPaths } from './cgroup-names.ts';
import type { CgroupTree } from './cgroup-tree.ts';
import { foldersOf, limitGroup } from './cgroup-tree.ts';
import { sharesOf } from './cpu-share.ts';
import type { GroupLimits } from './pod-limits.ts';
import type { SliceManager } from './systemd-slices.ts';

/*
 * The groups of the system and of the node's agents, which are held to what is reserved for them. Others make them and run in
 * them: they are only limited here, never made, emptied or removed.
 */

/** A group that exists already, and what it is to be limited to. What is undefined or 0 is not limited. */
export interface ReservedGroup {
  readonly side: 'system' | 'kube';
  /** Only its part of the processors counts. */
  readonly isCompressible: boolean;
  /** As configured: a path, or the name of a slice. */
  readonly cgroup: string;
  readonly cpuMillis?: number | undefined;
  readonly memoryBytes?: number | undefined;
  /** Processes and threads. */
  readonly pids?: number | undefined;
}

export interface ReservedTarget {
  readonly tree: CgroupTree;
  /** Undefined while the runtime has not said which. */
  readonly driver?: CgroupDriver | undefined;
  /** Needed with the driver systemd. */
  readonly slices?: SliceManager | undefined;
}

type Found = { readonly path: GroupPath } | { readonly problem: string };

/** Where the group is, or what is missing of it. */
export function findReservedGroup({ tree, driver }: ReservedTarget, group: ReservedGroup): Found {
  const places = existingPaths(group.cgroup, driver).map((path) => ({
    path,
    missing: findMissing(tree, path, group),
  }));
  const whole = places.find(({ missing }) => missing === undefined);
  if (whole !== undefined) return { path: whole.path };
  const partly = places.find(({ path }) => foldersOf(tree, path).length > 0) ?? places[0];
  return { problem: `${describeFailure(group)}: cgroup "${group.cgroup}" ${partly?.missing}` };
}

/**
 * Writes its limits. Rejects with what is missing of the group or cannot be written, the rest of the limits written. Memory that is
 * in use is not taken away: the kernel would end processes for it.
 */
export async function limitReservedGroup(target: ReservedTarget, group: ReservedGroup): Promise<void> {
  const found = findReservedGroup(target, group);
  if ('problem' in found) throw new Error(found.problem);
  const { tree, slices } = target;
  const { memoryBytes, ...others } = limitsOf(group);
  const inUse = findUseAbove(tree, found.path, memoryBytes);
  const limits: GroupLimits = inUse === undefined ? { ...others, memoryBytes } : others;
  try {
    const unit = found.path.at(-1) ?? '';
    if (/\.(?:slice|service|scope)$/.test(unit)) await slices?.apply(unit, limits);
    await limitGroup(tree, found.path, limits);
  } catch (error) {
    throw new Error(`${describeFailure(group)}: ${describeError(error)}`, { cause: error });
  }
  if (inUse !== undefined)
    throw new Error(
      `${describeFailure(group)}: it uses ${inUse} bytes of memory, more than the ${memoryBytes} that are reserved: reserve more, or make it use less`,
    );
}

/** In the words of the reference. */
function describeFailure({ side, isCompressible, cgroup }: ReservedGroup): string {
  const whose = side === 'system' ? 'System' : 'Kube';
  return `Failed to enforce ${whose} Reserved ${isCompressible ? 'Compressible ' : ''}Cgroup Limits on "${cgroup}"`;
}

function limitsOf({ cpuMillis, memoryBytes = 0, pids = 0 }: ReservedGroup): GroupLimits {
  return {
    ...(cpuMillis === undefined ? {} : { cpuShares: sharesOf(cpuMillis) }),
    ...(memoryBytes > 0 ? { memoryBytes } : {}),
    ...(pids > 0 ? { pids } : {}),
  };
}

function findUseAbove(tree: CgroupTree, path: GroupPath, limit: number | undefined): number | undefined {
  const files = new GroupFiles(tree);
  if (limit === undefined || (files.limits(path).memoryBytes ?? 0) <= limit) return undefined;
  const use = files.memory(path).workingSetBytes;
  return use !== undefined && use > limit ? use : undefined;
}

const controllers = [
  { name: 'cpu', limit: 'cpuShares', files: { 1: 'cpu.shares', 2: 'cpu.weight' } },
  { name: 'memory', limit: 'memoryBytes', files: { 1: 'memory.limit_in_bytes', 2: 'memory.max' } },
  { name: 'pids', limit: 'pids', files: { 1: 'pids.max', 2: 'pids.max' } },
] as const;

/** Only the controllers count whose limits are written; the reference demands more of them in version 1. */
function findMissing(tree: CgroupTree, path: GroupPath, group: ReservedGroup): string | undefined {
  const { version, roots } = tree;
  if (foldersOf(tree, path).length === 0) return `does not exist: create it before the agent starts`;
  const limits = limitsOf(group);
  const missing = controllers
    .filter(({ limit }) => limits[limit] !== undefined)
    .filter(({ files }) => !roots.some((root) => existsSync(join(root, ...path, files[version]))))
    .map(({ name }) => name);
  if (missing.length === 0) return undefined;
  const places = missing.map((name) => roots.find((root) => basename(root).split(',').includes(name)));
  const paths = places.flatMap((root) => (root === undefined ? [] : [join(root, ...path)]));
  return version === 1 && paths.length === missing.length
    ? `has some missing paths: ${paths.join(', ')}: create them before the agent starts`
    : `has some missing controllers: ${missing.join(', ')}: switch them on for it before the agent starts`;
}
