import type { Pod } from '../../api/index.ts';
import { billionths } from '../../api/index.ts';
import { scalarRule } from '../../api/schema/index.ts';
import type { EvictionSignal } from '../node/index.ts';
import { amountOf, formatBytes } from '../node/index.ts';
import type { MetThreshold } from './pressure-watch.ts';
import type { RankedPod, Shortage } from './rank.ts';
import type { ContainerUse } from './types.ts';

/** What the status and the Event of an evicted pod say, word for word as in the reference. */
export interface EvictionWords {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export const evicted = 'Evicted';

/** What a signal is short of, by the name that users know. */
export function resourceOf(signal: EvictionSignal): Shortage['of'] {
  if (signal === 'pid.available') return 'pids';
  if (signal.endsWith('.inodesFree')) return 'inodes';
  return signal.endsWith('fs.available') ? 'ephemeral-storage' : 'memory';
}

export function describeEviction({ pod, use }: RankedPod, met: MetThreshold): EvictionWords {
  const resource = resourceOf(met.signal);
  const low = `The node was low on resource: ${resource}. ${describeThreshold(met)}`;
  if (use === undefined) return { message: low, annotations: {} };
  const ofPod = resource === 'memory' ? podAboveRequest(pod, use.memoryBytes) : undefined;
  const over = use.containers.flatMap((container) => containerAboveRequest(pod, container, resource));
  return {
    message: `${low}${ofPod?.message ?? ''}${over.map(({ message }) => message).join('')}`,
    annotations: {
      ...ofPod?.annotations,
      offending_containers: over.map(({ name }) => name).join(','),
      offending_containers_usage: over.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  };
}

/** A threshold as it was written, or what its share comes to; counts in powers of 1000, bytes in powers of 1024. */
export function formatThreshold({ signal, threshold, capacity }: MetThreshold): string {
  if ('amount' in threshold && threshold.text !== undefined) return threshold.text;
  const amount = amountOf(threshold, capacity);
  return 'share' in threshold ? formatBytes(amount) : formatAmount(signal, amount);
}

export function formatAmount(signal: EvictionSignal, amount: number): string {
  const isCount = signal === 'pid.available' || signal.endsWith('.inodesFree');
  return isCount ? canonical(String(Math.trunc(amount))) : formatBytes(amount);
}

function describeThreshold(met: MetThreshold): string {
  const available = formatAmount(met.signal, met.available);
  return `Threshold quantity: ${formatThreshold(met)}, available: ${available}. `;
}

/** Of a pod that requests memory as a whole. */
function podAboveRequest({ metadata, spec }: Pod, memoryBytes: number | undefined) {
  const request = spec?.resources?.requests?.['memory'];
  if (request === undefined || memoryBytes === undefined) return undefined;
  const name = metadata?.name ?? '';
  const usage = formatBytes(memoryBytes);
  return {
    message: describeUse('Pod', name, usage, request, 'memory'),
    annotations: { offending_pod: name, offending_pod_usage: usage },
  };
}

function containerAboveRequest({ spec }: Pod, use: ContainerUse, resource: Shortage['of']) {
  const container = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find(
    ({ name }) => name === use.name,
  );
  const bytes = usageOf(use, resource);
  if (container === undefined || bytes === undefined) return [];
  const request = container.resources?.requests?.[resource] ?? '0';
  if (bytes <= bytesOf(request)) return [];
  const { name } = container;
  const usage = formatBytes(bytes);
  return [{ name, usage, message: describeUse('Container', name, usage, request, resource) }];
}

function usageOf({ memoryBytes, layer, logs }: ContainerUse, resource: Shortage['of']): number | undefined {
  if (resource === 'memory') return memoryBytes;
  if (resource !== 'ephemeral-storage' || layer === undefined || logs === undefined) return undefined;
  return layer.bytes + logs.bytes;
}

const describeUse = (what: string, name: string, usage: string, request: string, resource: string) =>
  `${what} ${name} was using ${usage}, request is ${canonical(request)}, has larger consumption of ${resource}. `;

/** Of a valid quantity; fractions of a byte count. */
export function bytesOf(quantity: string): number {
  return Number(billionths(quantity)) / 1e9;
}

/** As the API writes it. */
export function canonical(quantity: string): string {
  const text = scalarRule('quantity').read(quantity);
  return typeof text === 'string' ? text : quantity;
}
