import { formatTime } from '../../../api/index.ts';
import type { DiskUsage } from '../../usage/index.ts';
import { defined } from './figures.ts';
import type { NodeUsage } from './node-usage.ts';
import type { SystemUsage } from './own-usage.ts';
import type { ContainerAt, PodAt } from './pods.ts';
import { attemptsOf, currentPods } from './pods.ts';
import type { RuntimeSource } from './runtime-source.ts';
import type { ContainerUsage, FsStats, PodUsage } from './usage.ts';

export interface SummaryParts {
  nodeName: string;
  node: NodeUsage;
  /** All pods. */
  pods: readonly PodAt[];
  usage: Usage;
  /** The groups of the agent and of all pods; undefined on a machine without control groups. */
  system: readonly SystemUsage[] | undefined;
  disks: Awaited<ReturnType<RuntimeSource['imageDisks']>>;
  /** Leaves everything else out, as the reference does for frequent requests. */
  onlyCpuAndMemory: boolean;
  /** Why the runtime was not asked for everything, so that pods or figures of them are missing; undefined: nothing is. */
  missing: string | undefined;
}

/** The usage of pods, where it is known, else of containers. */
export interface Usage {
  readonly pods: readonly PodUsage[];
  readonly containers: readonly ContainerUsage[];
}

/** A Summary of stats/v1alpha1: what the node uses, and each of the pods that run. */
export function summary(parts: SummaryParts) {
  return { node: nodeOf(parts), pods: podsOf(parts) };
}

function nodeOf({ nodeName, node, system, disks, onlyCpuAndMemory }: SummaryParts) {
  const { startTime, cpu, memory, swap, io, network, fs, imageFs, containerFs, rlimit } = node;
  const base = {
    nodeName,
    ...(startTime === undefined ? {} : { startTime }),
    cpu,
    memory,
    ...(swap === undefined ? {} : { swap }),
    ...(system === undefined ? {} : { systemContainers: system }),
  };
  if (onlyCpuAndMemory) return base;
  const image = withUse(imageFs ?? fs, disks.images);
  return {
    ...base,
    ...(io === undefined ? {} : { io }),
    ...(network === undefined ? {} : { network }),
    fs,
    runtime: { imageFs: image, containerFs: withUse(containerFs ?? image, disks.containers) },
    ...(rlimit === undefined ? {} : { rlimit }),
  };
}

/** The usage of the images alone, on a file system that has other files too. */
function withUse(fs: FsStats, use: DiskUsage | undefined): FsStats {
  if (use === undefined) return fs;
  return { ...fs, ...defined({ usedBytes: use.usedBytes, inodesUsed: use.inodes }) };
}

interface PodInSummary {
  readonly at: PodAt;
  readonly used: Partial<PodUsage>;
  /** Those that run. */
  readonly containers: readonly { readonly at: ContainerAt; readonly used: Partial<ContainerUsage> }[];
}

/** The pods that run, with what is known of their usage. */
export function podsInSummary({ pods, usage }: Pick<SummaryParts, 'pods' | 'usage'>): PodInSummary[] {
  const byId = new Map(usage.pods.map((pod) => [pod.id, pod]));
  const ofContainers = new Map(
    [...usage.containers, ...usage.pods.flatMap(({ containers }) => containers)].map(
      (container) => [container.id, container] as const,
    ),
  );
  return currentPods(pods)
    .filter(({ ready }) => ready)
    .map((at) => ({
      at,
      used: byId.get(at.id) ?? sumOf(at, ofContainers),
      containers: attemptsOf(at)
        .filter(([{ state }]) => state === 'running')
        .map(([container]) => ({ at: container, used: ofContainers.get(container.id) ?? {} })),
    }));
}

function podsOf(parts: SummaryParts) {
  const { node, onlyCpuAndMemory } = parts;
  return podsInSummary(parts).map(({ at, used, containers }) => {
    const { cpu, memory, swap, network, processes } = used;
    return {
      podRef: { name: at.name, namespace: at.namespace, uid: at.uid },
      startTime: formatTime(at.createdMs),
      containers: containers.map((container) => containerOf(container, parts)),
      ...(cpu === undefined ? {} : { cpu }),
      ...(memory === undefined ? {} : { memory }),
      ...(swap === undefined ? {} : { swap }),
      ...(onlyCpuAndMemory ? {} : storageOf(used, node.fs)),
      ...(network === undefined || onlyCpuAndMemory ? {} : { network }),
      ...(processes === undefined || onlyCpuAndMemory ? {} : { process_stats: { process_count: processes } }),
    };
  });
}

function containerOf(
  { at, used }: PodInSummary['containers'][number],
  { node, onlyCpuAndMemory }: SummaryParts,
) {
  const { fs } = node;
  const layerFs = node.containerFs ?? node.imageFs ?? fs;
  const { cpu, memory, io, swap, disk, logs } = used;
  return {
    name: at.name,
    startTime: formatTime(at.createdMs),
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
    ...(swap === undefined ? {} : { swap }),
    ...(io === undefined || onlyCpuAndMemory ? {} : { io }),
    ...(disk === undefined || onlyCpuAndMemory ? {} : { rootfs: diskOf(disk, layerFs) }),
    ...(logs === undefined || onlyCpuAndMemory ? {} : { logs: diskOf(logs, fs) }),
  };
}

function storageOf({ io, volumes = [], ephemeral }: Partial<PodUsage>, fs: FsStats) {
  return {
    ...(io === undefined ? {} : { io }),
    ...(volumes.length === 0 ? {} : { volume: volumes }),
    ...(ephemeral === undefined ? {} : { 'ephemeral-storage': diskOf(ephemeral, fs) }),
  };
}

/** What is used, of the file system that it lies on. */
function diskOf(used: DiskUsage, fs: FsStats): FsStats {
  const { availableBytes, capacityBytes, inodes, inodesFree } = fs;
  const known = defined({ availableBytes, capacityBytes, inodes, inodesFree });
  return withUse({ time: formatTime(used.atMs), ...known }, used);
}

/** For a runtime that does not report the pod as a whole: the sum of its containers, if each is known. */
function sumOf(
  { containers }: PodAt,
  used: ReadonlyMap<string, ContainerUsage>,
): Pick<PodUsage, 'cpu' | 'memory' | 'network' | 'processes'> {
  const own = containers.filter(({ state }) => state === 'running').map(({ id }) => used.get(id));
  const cpus = own.map((each) => each?.cpu);
  const memories = own.map((each) => each?.memory);
  const [cpu, memory] = [cpus[0], memories[0]];
  const [nanoSeconds, nanoCores, workingSetBytes] = [
    total(cpus.map((each) => each?.usageCoreNanoSeconds)),
    total(cpus.map((each) => each?.usageNanoCores)),
    total(memories.map((each) => each?.workingSetBytes)),
  ];
  return {
    cpu: cpu && {
      time: cpu.time,
      ...(nanoCores === undefined ? {} : { usageNanoCores: nanoCores }),
      ...(nanoSeconds === undefined ? {} : { usageCoreNanoSeconds: nanoSeconds }),
    },
    memory: memory && { time: memory.time, ...(workingSetBytes === undefined ? {} : { workingSetBytes }) },
    network: undefined,
    processes: undefined,
  };
}

function total(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === figures.length ? known.reduce((sum, figure) => sum + figure, 0) : undefined;
}
