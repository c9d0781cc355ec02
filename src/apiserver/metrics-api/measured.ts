import type { Node, NodeMetrics, Pod, PodMetrics } from '../../api/index.ts';
import {
  formatBillionths,
  formatBinary,
  formatTime,
  nodeKind,
  nodeMetrics,
  podKind,
  podMetrics,
} from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { EventLoopYielder, formatDuration } from '../../base/index.ts';
import type { Measured } from '../handlers/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import { isReadable } from '../storage/index.ts';
import type { Figures } from './node-answer.ts';
import type { NodeAnswers } from './node-answers.ts';

export interface MeasuredOptions {
  readonly registry: Registry;
  readonly answers: Pick<NodeAnswers, 'read'>;
  readonly clock: Clock;
}

/** What answers reads of `metrics.k8s.io`: of nodes, and of pods that run. What is not known of is missing. */
export function createMeasured(options: MeasuredOptions): readonly Measured[] {
  return [measuredNodes(options), measuredPods(options)];
}

function measuredNodes({ registry, answers, clock }: MeasuredOptions): Measured<NodeMetrics> {
  return {
    kind: nodeMetrics,
    async read({ name, signal }) {
      const nodes = await readObjects(registry.of(nodeKind), '', name);
      const found = await answers.read(nodes, signal);
      const objects = nodes.flatMap((node): NodeMetrics[] => {
        const figures = found.get(node.metadata?.name ?? '')?.node;
        if (figures === undefined) return [];
        return [{ metadata: metadataOf(node, clock), ...spanOf([figures]), usage: usageOf(figures) }];
      });
      return { objects, warnings: [] };
    },
  };
}

function measuredPods({ registry, answers, clock }: MeasuredOptions): Measured<PodMetrics> {
  return {
    kind: podMetrics,
    async read({ namespace, name, signal }) {
      const all = await readObjects(registry.of(podKind), namespace, name);
      const pods = all.filter(({ spec, status }) => spec?.nodeName && status?.phase === 'Running');
      const names = new Set(pods.map(({ spec }) => spec?.nodeName ?? ''));
      const nodes = (
        await Promise.all([...names].map((node) => readObjects(registry.of(nodeKind), '', node)))
      ).flat();
      const found = await answers.read(nodes, signal);
      const figuresOf = ({ spec, metadata }: Pod) =>
        found.get(spec?.nodeName ?? '')?.pods.get(metadata?.uid ?? '');
      const objects = pods.flatMap((pod) => metricsOf(pod, figuresOf(pod) ?? new Map(), clock));
      const reported = new Set(
        pods.filter((pod) => figuresOf(pod) !== undefined).map(({ spec }) => spec?.nodeName),
      );
      return { objects, warnings: warningsOf([...names].filter((node) => !reported.has(node))) };
    },
  };
}

const maxNamed = 10;

/** Of nodes of which no pod is known: without this, a list without them would look as if nothing ran there. */
function warningsOf(nodes: readonly string[]): string[] {
  if (nodes.length === 0) return [];
  const named = nodes.toSorted().slice(0, maxNamed).join(', ');
  const more = nodes.length > maxNamed ? ` and ${nodes.length - maxNamed} more` : '';
  return [`pods of these nodes are missing, because their agents do not say what they use: ${named}${more}`];
}

/** None while a container that runs is not measured yet: a sum without it would be too small. */
function metricsOf(pod: Pod, measured: ReadonlyMap<string, Figures>, clock: Clock): PodMetrics[] {
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  const running = statuses.flatMap(({ name = '', state }) => (state?.running === undefined ? [] : [name]));
  const containers = running.flatMap((name) => {
    const figures = measured.get(name);
    return figures === undefined ? [] : [{ name, figures }];
  });
  if (containers.length === 0 || containers.length < running.length) return [];
  return [
    {
      metadata: metadataOf(pod, clock),
      ...spanOf(containers.map(({ figures }) => figures)),
      containers: containers.map(({ name, figures }) => ({ name, usage: usageOf(figures) })),
    },
  ];
}

/** Those of a namespace, or all; with a name that alone, if it is there. */
async function readObjects<T extends Node | Pod>(
  resource: Resource<T>,
  namespace: string,
  name: string,
): Promise<T[]> {
  const { storage, kind, encoding } = resource;
  if (name !== '' && (namespace !== '' || !kind.namespaced)) {
    const state = storage.lookup(`${resource.prefix(namespace)}${name}`);
    return state === undefined || !isReadable(state) ? [] : [encoding.read(state)];
  }
  const yielder = new EventLoopYielder();
  const objects: T[] = [];
  for (const stored of storage.list(resource.prefix(namespace), '', 0).items) {
    if (yielder.isDue) await yielder.yield();
    const object = encoding.read(stored);
    if (name === '' || object.metadata?.name === name) objects.push(object);
  }
  return objects;
}

/** Labels too, so that selectors of the object select its figures. */
function metadataOf({ metadata }: Node | Pod, clock: Clock): NonNullable<NodeMetrics['metadata']> {
  const { name, namespace, labels } = metadata ?? {};
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    creationTimestamp: formatTime(clock.now()),
    ...(labels === undefined ? {} : { labels }),
  };
}

/** The end of the earliest, and the longest, of the spans. */
function spanOf(all: readonly Figures[]): { timestamp: string; window: string } {
  const times = all.map(({ time }) => time).sort();
  const spanMs = Math.max(...all.map((each) => each.spanMs));
  return { timestamp: times[0] ?? '', window: formatDuration(BigInt(spanMs) * 1_000_000n) };
}

function usageOf({ nanoCores, workingSetBytes }: Figures): Record<string, string> {
  return {
    cpu: formatBillionths(BigInt(nanoCores)),
    memory: formatBinary(BigInt(workingSetBytes)),
  };
}
