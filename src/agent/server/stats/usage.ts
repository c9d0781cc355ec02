import { formatTime } from '../../../api/index.ts';
import type { DiskUsage } from '../../usage/index.ts';
import { toDiskUsage } from '../../usage/index.ts';

/*
 * Usage in the shape of the reference's stats/v1alpha1: https://pkg.go.dev/k8s.io/kubelet/pkg/apis/stats/v1alpha1.
 * A value that is not known is left out; a 0 would mean that nothing is used.
 */

export interface CpuStats {
  time: string;
  usageNanoCores?: number;
  usageCoreNanoSeconds?: number;
  /** Not one of the reference: the span of usageNanoCores. */
  usageSpanMilliSeconds?: number;
  /** Not one of the reference. */
  throttling?: ThrottlingStats;
  psi?: PsiStats;
}

/** Since the group was made: periods in which it had a quota of CPU time and ran, and those in which it used it up and waited. */
export interface ThrottlingStats {
  periods: number;
  throttledPeriods: number;
  throttledNanoSeconds?: number;
}

export interface PsiFigures {
  /** Microseconds. */
  total: number;
  avg10: number;
  avg60: number;
  avg300: number;
}

/** Time in which some, or all, tasks waited. */
export interface PsiStats {
  full: PsiFigures;
  some: PsiFigures;
}

export interface IoStats {
  time: string;
  psi?: PsiStats;
}

export interface SwapStats {
  time: string;
  swapAvailableBytes?: number;
  swapUsageBytes?: number;
}

/** A volume of a pod. */
export interface VolumeStats extends FsStats {
  name: string;
  pvcRef?: { name: string; namespace: string };
}

export interface MemoryStats {
  time: string;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  psi?: PsiStats;
}

export interface InterfaceStats {
  name: string;
  rxBytes?: number;
  rxErrors?: number;
  txBytes?: number;
  txErrors?: number;
}

/** The interface of the default route, and all interfaces. */
export interface NetworkStats extends InterfaceStats {
  time: string;
  interfaces: InterfaceStats[];
}

export interface FsStats {
  time: string;
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
}

/** The usage of a container, by the runtime. */
export interface ContainerUsage {
  readonly id: string;
  readonly name: string;
  /** When it was read; wall clock, milliseconds since 1970. */
  readonly atMs?: number | undefined;
  readonly cpu: CpuStats | undefined;
  readonly memory: MemoryStats | undefined;
  readonly disk: DiskUsage | undefined;
  readonly logs?: DiskUsage | undefined;
  readonly io?: IoStats | undefined;
  readonly swap?: SwapStats | undefined;
}

export interface PodUsage {
  /** Of its sandbox. */
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly atMs?: number | undefined;
  readonly cpu: CpuStats | undefined;
  readonly memory: MemoryStats | undefined;
  readonly network: NetworkStats | undefined;
  readonly processes: number | undefined;
  readonly io?: IoStats | undefined;
  readonly swap?: SwapStats | undefined;
  readonly volumes?: readonly VolumeStats[];
  readonly ephemeral?: DiskUsage | undefined;
  readonly containers: readonly ContainerUsage[];
}

type Figure = { readonly value: bigint } | undefined;

interface Cpu {
  timestamp: bigint;
  usageCoreNanoSeconds?: Figure;
  usageNanoCores?: Figure;
}
interface Memory {
  timestamp: bigint;
  workingSetBytes?: Figure;
  availableBytes?: Figure;
  usageBytes?: Figure;
  rssBytes?: Figure;
  pageFaults?: Figure;
  majorPageFaults?: Figure;
}
interface Interface {
  name: string;
  rxBytes?: Figure;
  rxErrors?: Figure;
  txBytes?: Figure;
  txErrors?: Figure;
}
interface ContainerStats {
  attributes?: { id: string; metadata?: { name: string } | undefined } | undefined;
  cpu?: Cpu | undefined;
  memory?: Memory | undefined;
  writableLayer?: Parameters<typeof toDiskUsage>[0] | undefined;
}
interface PodStats {
  attributes?:
    | { id: string; metadata?: { name: string; namespace: string; uid: string } | undefined }
    | undefined;
  linux?:
    | {
        cpu?: Cpu | undefined;
        memory?: Memory | undefined;
        network?:
          | { timestamp: bigint; defaultInterface?: Interface | undefined; interfaces: Interface[] }
          | undefined;
        process?: { processCount?: Figure } | undefined;
        containers: ContainerStats[];
      }
    | undefined;
}

export function podUsage({ attributes, linux }: PodStats): PodUsage {
  const { name = '', namespace = '', uid = '' } = attributes?.metadata ?? {};
  return {
    id: attributes?.id ?? '',
    name,
    namespace,
    uid,
    atMs: millisOf(linux?.cpu),
    cpu: cpuOf(linux?.cpu),
    memory: memoryOf(linux?.memory),
    network: networkOf(linux?.network),
    processes: numberOf(linux?.process?.processCount),
    containers: (linux?.containers ?? []).map(containerUsage),
  };
}

export function containerUsage({ attributes, cpu, memory, writableLayer }: ContainerStats): ContainerUsage {
  return {
    id: attributes?.id ?? '',
    name: attributes?.metadata?.name ?? '',
    atMs: millisOf(cpu),
    cpu: cpuOf(cpu),
    memory: memoryOf(memory),
    disk: writableLayer && toDiskUsage(writableLayer),
  };
}

function millisOf(cpu: Cpu | undefined): number | undefined {
  return cpu === undefined ? undefined : Number(cpu.timestamp / 1_000_000n);
}

function cpuOf(cpu: Cpu | undefined): CpuStats | undefined {
  if (cpu === undefined) return undefined;
  const { usageNanoCores, usageCoreNanoSeconds } = cpu;
  return { time: timeOf(cpu.timestamp), ...figures({ usageNanoCores, usageCoreNanoSeconds }) };
}

function memoryOf(memory: Memory | undefined): MemoryStats | undefined {
  if (memory === undefined) return undefined;
  const { availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults } = memory;
  const known = { availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults };
  return { time: timeOf(memory.timestamp), ...figures(known) };
}

function networkOf(network: NonNullable<PodStats['linux']>['network']): NetworkStats | undefined {
  if (network === undefined) return undefined;
  const { timestamp, defaultInterface, interfaces } = network;
  const own = defaultInterface === undefined ? { name: '' } : interfaceOf(defaultInterface);
  const others = interfaces.map(interfaceOf).filter(({ name }) => name !== own.name);
  return { time: timeOf(timestamp), ...own, interfaces: own.name === '' ? others : [own, ...others] };
}

function interfaceOf({ name, rxBytes, rxErrors, txBytes, txErrors }: Interface): InterfaceStats {
  return { name, ...figures({ rxBytes, rxErrors, txBytes, txErrors }) };
}

/** The values that are present, as numbers: counters of bytes stay exact up to 8 PiB. */
function figures<K extends string>(known: Readonly<Record<K, Figure>>): Partial<Record<K, number>> {
  const found: Partial<Record<K, number>> = {};
  for (const key in known) {
    const value = numberOf(known[key]);
    if (value !== undefined) found[key] = value;
  }
  return found;
}

const numberOf = (figure: Figure): number | undefined =>
  figure === undefined ? undefined : Number(figure.value);
const timeOf = (nanoseconds: bigint): string => formatTime(Number(nanoseconds / 1_000_000n));
