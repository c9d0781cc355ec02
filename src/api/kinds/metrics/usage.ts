import type { Infer } from '../../schema/index.ts';
import { duration, list, map, quantity, required, string, struct, time } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Column } from '../kind.ts';
import { billionths, formatBillionths, formatBinary } from '../quantity.ts';

/*
 * `metrics.k8s.io`: what nodes and pods use now. Nothing of it is stored: the control plane asks the agents. These kinds are not
 * among the served ones of `gen/served.ts`, which all have objects or are created.
 */

const usage = map(quantity);

const timestamp = required(2, time, 'The end of the span over which it was measured.');
const window = required(3, duration, 'The span, before the timestamp.');

const nodeRoot = objectStruct('NodeMetrics', {
  timestamp,
  window,
  usage: required(4, usage, 'CPU and memory in use: cores, and bytes of the working set.'),
});

const containerMetrics = struct('ContainerMetrics', {
  name: required(1, string, 'Name of the container.'),
  usage: required(2, usage, 'CPU and memory in use: cores, and bytes of the working set.'),
});

const podRoot = objectStruct('PodMetrics', {
  timestamp,
  window,
  containers: required(
    4,
    list(containerMetrics, { list: 'atomic' }),
    'The containers that were measured in the same span.',
  ),
});

/** What a node uses. */
export interface NodeMetrics extends Infer<typeof nodeRoot> {}
/** What the containers of a pod use. */
export interface PodMetrics extends Infer<typeof podRoot> {}

const common = { group: 'metrics', version: 'v1beta1', virtual: true, verbs: ['get', 'list'] } as const;

const windowColumn: Column<{ window: string }> = {
  name: 'Window',
  type: 'string',
  format: 'duration',
  description: 'The span over which it was measured.',
  priority: 0,
  value: (metrics) => metrics.window ?? '',
};

/** Those of metrics-server, in its order. */
function usageColumns<T>(textOf: (metrics: T, name: 'cpu' | 'memory') => string): Column<T>[] {
  return (['cpu', 'memory'] as const).map((name) => ({
    name,
    type: 'string',
    format: 'quantity',
    description: `How much ${name} is in use.`,
    priority: 0,
    value: (metrics) => textOf(metrics, name),
  }));
}

/** Of all containers. */
function sumOf({ containers = [] }: PodMetrics, name: 'cpu' | 'memory'): string {
  const sum = containers.reduce((total, { usage: used }) => total + billionths(used?.[name] ?? '0'), 0n);
  return name === 'cpu' ? formatBillionths(sum) : formatBinary(sum / 1_000_000_000n);
}

export const nodeMetrics = defineKind<NodeMetrics>({
  ...common,
  kind: 'NodeMetrics',
  doc: 'What a node uses now, as its agent measures it.',
  resource: 'nodes',
  singular: 'nodemetrics',
  namespaced: false,
  root: nodeRoot,
  columns: [...usageColumns<NodeMetrics>(({ usage: used }, name) => used?.[name] ?? ''), windowColumn],
});

export const podMetrics = defineKind<PodMetrics>({
  ...common,
  kind: 'PodMetrics',
  doc: 'What the containers of a pod use now, as the agent of its node measures it.',
  resource: 'pods',
  singular: 'podmetrics',
  namespaced: true,
  root: podRoot,
  columns: [...usageColumns<PodMetrics>(sumOf), windowColumn],
});

/** The kinds that are measured when they are read. */
export const measuredKinds = [nodeMetrics, podMetrics] as const;
