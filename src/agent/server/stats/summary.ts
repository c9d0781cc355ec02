import { formatTime } from '../../../api/index.ts';
import type { NodeUsage } from './node-usage.ts';
import type { PodAt } from './pods.ts';
import { attemptsOf, currentPods } from './pods.ts';
import type { RuntimeSource } from './runtime-source.ts';
import type { ContainerUsage, DiskUsage, FsStats, PodUsage } from './usage.ts';

export interface SummaryParts {
  nodeName: string;
  node: NodeUsage;
  /** All pods. */
  pods: readonly PodAt[];
  usage: Usage;
  disks: Awaited<ReturnType<RuntimeSource['imageDisks']>>;
  /** Leaves everything else out, as the reference does for frequent requests. */
  onlyCpuAndMemory: boolean;
}

/** The usage of pods, where the runtime reports it, else of containers. */
export interface Usage {
  readonly pods: readonly PodUsage[] | undefined;
  readonly containers: readonly ContainerUsage[];
}

/** A Summary of stats/v1alpha1: what the node uses, and each of the pods that run. */
export function summary(parts: SummaryParts) {
  return { node: nodeOf(parts), pods: podsOf(parts) };
}

function nodeOf({ nodeName, node, disks, onlyCpuAndMemory }: SummaryParts) {
  const { startTime, cpu, memory, network, fs, imageFs, containerFs, rlimit } = node;
  const base = {
    nodeName,
    ...(startTime === undefined ? {} : { startTime }),
    cpu,
    memory,
  };
  if (onlyCpuAndMemory) return base;
  const image = withUse(imageFs ?? fs, disks.images);
  return {
    ...base,
    ...(network === undefined ? {} : { network }),
    fs,
    runtime: { imageFs: image, containerFs: withUse(containerFs ?? image, disks.containers) },
    ...(rlimit === undefined ? {} : { rlimit }),
  };
}

/** The usage of the images alone, on a file system that has other files too. */
function withUse(fs: FsStats, use: DiskUsage | undefined): FsStats {
  if (use === undefined) return fs;
  const { usedBytes, inodesUsed } = use;
  return {
    ...fs,
    ...(usedBytes === undefined ? {} : { usedBytes }),
    ...(inodesUsed === undefined ? {} : { inodesUsed }),
  };
}

function podsOf({ pods, usage, onlyCpuAndMemory }: SummaryParts) {
  const used = new Map((usage.pods ?? []).map((pod) => [pod.id, pod]));
  const ofContainers = new Map(
    [...usage.containers, ...(usage.pods ?? []).flatMap(({ containers }) => containers)].map(
      (container) => [container.id, container] as const,
    ),
  );
  return currentPods(pods)
    .filter(({ ready }) => ready)
    .map((pod) => {
      const { cpu, memory, network, processes } = used.get(pod.id) ?? sumOf(pod, ofContainers);
      return {
        podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
        startTime: formatTime(pod.createdMs),
        containers: containersOf(pod, ofContainers, onlyCpuAndMemory),
        ...(cpu === undefined ? {} : { cpu }),
        ...(memory === undefined ? {} : { memory }),
        ...(network === undefined || onlyCpuAndMemory ? {} : { network }),
        ...(processes === undefined || onlyCpuAndMemory
          ? {}
          : { process_stats: { process_count: processes } }),
      };
    });
}

function containersOf(pod: PodAt, used: ReadonlyMap<string, ContainerUsage>, onlyCpuAndMemory: boolean) {
  return attemptsOf(pod)
    .filter(([{ state }]) => state === 'running')
    .map(([{ id, name, createdMs }]) => {
      const { cpu, memory, disk } = used.get(id) ?? {};
      return {
        name,
        startTime: formatTime(createdMs),
        ...(cpu === undefined ? {} : { cpu }),
        ...(memory === undefined ? {} : { memory }),
        ...(disk === undefined || onlyCpuAndMemory ? {} : { rootfs: rootfsOf(disk) }),
      };
    });
}

function rootfsOf({ timeMs, usedBytes, inodesUsed }: DiskUsage): FsStats {
  return withUse({ time: formatTime(timeMs) }, { mountpoint: '', timeMs, usedBytes, inodesUsed });
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
