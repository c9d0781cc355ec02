import { readlinkSync } from 'node:fs';
import type { Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { GroupPath, PodDisks, PodDiskUsage, PodGroups, PodGroupUsage } from '../../usage/index.ts';
import { ephemeralUse } from '../../usage/index.ts';
import { defined } from './figures.ts';
import { groupStats } from './group-stats.ts';
import { readNetwork } from './node-usage.ts';
import type { ContainerAt, PodAt } from './pods.ts';
import { attemptsOf } from './pods.ts';
import type {
  ContainerUsage,
  CpuStats,
  FsStats,
  MemoryStats,
  NetworkStats,
  PodUsage,
  VolumeStats,
} from './usage.ts';

/** How full the volume of a claim is. */
export interface ClaimUse {
  readonly namespace: string;
  readonly claim: string;
  readonly bytes: Fill | undefined;
  readonly inodes: Fill | undefined;
}

interface Fill {
  readonly total: number;
  readonly available: number;
  readonly used: number;
}

export interface OwnUsageOptions {
  readonly groups: PodGroups;
  readonly disks: PodDisks;
  /** As was last found; nothing is asked. */
  claims(): readonly ClaimUse[];
  /** Groups that are reported by a name of their own, such as `pods`. */
  systemGroups(): readonly SystemGroup[];
  /** Where the kernel's processes are; default `/proc`. */
  readonly procDir?: string;
}

export interface SystemGroup {
  readonly name: string;
  readonly path: GroupPath;
}

/** What such a group uses. */
export interface SystemUsage {
  readonly name: string;
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
}

export interface OwnUsageAsked {
  readonly pods: readonly PodAt[];
  /** The pods as their source has them, by uid. */
  readonly known: ReadonlyMap<string, Pod>;
  /** Of the file system of volumes of the kind emptyDir. */
  readonly fs: FsStats;
  readonly onlyCpuAndMemory: boolean;
}

/**
 * What pods use by the kernel's own files: the runtime is asked for writable layers only, and for nothing where CPU and memory
 * are all that is wanted. Returns the pods that have a group where this agent makes them.
 */
export async function readOwnUsage(options: OwnUsageOptions, asked: OwnUsageAsked): Promise<PodUsage[]> {
  const { groups } = options;
  const { pods, onlyCpuAndMemory } = asked;
  const usages = await groups.read(
    pods.map((pod) => ({ uid: pod.uid, containers: runningOf(pod).map(({ id }) => id) })),
    { awaitRates: true },
  );
  const found = pods.filter(({ uid }) => usages.has(uid));
  const disks = onlyCpuAndMemory ? undefined : await readDisks(options.disks, found, asked.known);
  return found.flatMap((pod): PodUsage[] => {
    const usage = usages.get(pod.uid);
    const path = groups.pathOf(pod.uid);
    if (usage === undefined) return [];
    const detailed = onlyCpuAndMemory || path === undefined ? undefined : groups.details(path);
    const stats = groupStats(usage.pod, detailed);
    const disk = disks?.get(pod.uid);
    return [
      {
        ...{ id: pod.id, name: pod.name, namespace: pod.namespace, uid: pod.uid },
        atMs: usage.pod.atMs,
        ...{ cpu: stats.cpu, memory: stats.memory, io: stats.io, swap: stats.swap },
        processes: stats.tasks,
        network: onlyCpuAndMemory ? undefined : networkOf(options, pod, usage.pod.atMs),
        volumes: disk === undefined ? [] : volumesOf(asked, pod, disk, options.claims()),
        ephemeral: disk && { atMs: usage.pod.atMs, ...ephemeralUse(disk) },
        containers: containersOf(groups, pod, { usage, disk, onlyCpuAndMemory }),
      },
    ];
  });
}

interface PodFigures {
  readonly usage: PodGroupUsage;
  /** Undefined: not asked for. */
  readonly disk: PodDiskUsage | undefined;
  readonly onlyCpuAndMemory: boolean;
}

function containersOf(
  groups: PodGroups,
  pod: PodAt,
  { usage, disk, onlyCpuAndMemory }: PodFigures,
): ContainerUsage[] {
  return runningOf(pod).flatMap(({ id, name }): ContainerUsage[] => {
    const own = usage.containers.get(id);
    if (own === undefined) return [];
    const path = onlyCpuAndMemory ? undefined : groups.containerPathOf(pod.uid, id);
    const { cpu, memory, io, swap } = groupStats(own, path && groups.details(path));
    const disks = { disk: disk?.writableLayers.get(name), logs: disk?.logs.get(name) };
    return [{ id, name, atMs: own.atMs, cpu, memory, io, swap, ...disks }];
  });
}

/** Without those that do not exist. */
export function readSystemUsage({ groups, systemGroups }: OwnUsageOptions): SystemUsage[] {
  return systemGroups().flatMap(({ name, path }): SystemUsage[] => {
    if (!groups.files.has(path)) return [];
    const { cpu, memory } = groupStats(groups.group(path));
    return [{ name, cpu, memory }];
  });
}

function runningOf(pod: PodAt): ContainerAt[] {
  return attemptsOf(pod).flatMap(([newest]) => (newest.state === 'running' ? [newest] : []));
}

async function readDisks(
  disks: PodDisks,
  pods: readonly PodAt[],
  known: ReadonlyMap<string, Pod>,
): Promise<ReadonlyMap<string, PodDiskUsage>> {
  const asked = pods.map((pod) => ({
    pod: known.get(pod.uid) ?? unknownPod(pod),
    containerIds: new Map(attemptsOf(pod).map(([{ name, id }]) => [name, id])),
  }));
  return await disks.read(asked);
}

/** Of one that no source has any more: its volumes are not known. */
function unknownPod(pod: PodAt): Pod {
  const { name, namespace, uid } = pod;
  const containers = attemptsOf(pod).map(([container]) => ({ name: container.name, image: container.image }));
  return { metadata: { name, namespace, uid }, spec: { containers } };
}

function volumesOf(
  { known, fs }: OwnUsageAsked,
  { uid, name: podName, namespace }: PodAt,
  disk: PodDiskUsage,
  claims: readonly ClaimUse[],
): VolumeStats[] {
  return (known.get(uid)?.spec?.volumes ?? []).flatMap((volume): VolumeStats[] => {
    const { name = '', persistentVolumeClaim, ephemeral } = volume;
    const size = disk.emptyDirs.get(name);
    if (size !== undefined) {
      const { atMs, usedBytes, inodes: inodesUsed } = size;
      return [{ ...fs, time: formatTime(atMs), usedBytes, inodesUsed, name }];
    }
    const claim =
      persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${podName}-${name}`);
    const use = claims.find((each) => each.claim === claim && each.namespace === namespace);
    return use === undefined ? [] : [claimStats(name, use, fs.time)];
  });
}

function claimStats(name: string, { namespace, claim, bytes, inodes }: ClaimUse, time: string): VolumeStats {
  const figures = defined({
    ...{ availableBytes: bytes?.available, capacityBytes: bytes?.total, usedBytes: bytes?.used },
    ...{ inodesFree: inodes?.available, inodes: inodes?.total, inodesUsed: inodes?.used },
  });
  return { time, ...figures, name, pvcRef: { name: claim, namespace } };
}

/** As a process of the sandbox sees it; undefined for a pod that has no network of its own. */
function networkOf(
  { groups, procDir = '/proc' }: OwnUsageOptions,
  { uid, id }: PodAt,
  atMs: number,
): NetworkStats | undefined {
  const path: GroupPath | undefined = groups.containerPathOf(uid, id);
  const pid = path && groups.files.processes(path)[0];
  if (pid === undefined) return undefined;
  const own = networkNameOf(`${procDir}/${pid}`);
  if (own === undefined || own === networkNameOf(`${procDir}/self`)) return undefined;
  return readNetwork(`${procDir}/${pid}`, formatTime(atMs));
}

function networkNameOf(processDir: string): string | undefined {
  try {
    return readlinkSync(`${processDir}/ns/net`);
  } catch {
    return undefined;
  }
}
