import type { SummaryParts } from './summary.ts';
import { podsInSummary } from './summary.ts';
import type { CpuStats, MemoryStats, SwapStats } from './usage.ts';

/*
 * `/metrics/resource`: CPU and memory of the node, its pods and containers in the text format of Prometheus, with names as in the
 * reference. Each figure has the time at which it was read, so that a rate is exact however late it is fetched.
 */

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
  readonly atMs: number | undefined;
}

/** What is measured of one thing, whatever it is. */
interface Measured {
  readonly labels: Labels;
  readonly atMs: number | undefined;
  readonly cpu: CpuStats | undefined;
  readonly memory: MemoryStats | undefined;
  readonly swap: SwapStats | undefined;
  readonly startMs?: number;
}

const figures = [
  {
    name: 'cpu_usage_seconds_total',
    type: 'counter',
    help: (what: string) => `Cumulative cpu time consumed by the ${what} in core-seconds`,
    read: ({ cpu }: Measured) => perBillion(cpu?.usageCoreNanoSeconds),
  },
  {
    name: 'memory_working_set_bytes',
    type: 'gauge',
    help: (what: string) => `Current working set of the ${what} in bytes`,
    read: ({ memory }: Measured) => memory?.workingSetBytes,
  },
  {
    name: 'swap_usage_bytes',
    type: 'gauge',
    help: (what: string) => `Current amount of the ${what} swap usage in bytes`,
    read: ({ swap }: Measured) => swap?.swapUsageBytes,
  },
] as const;

const start = {
  name: 'start_time_seconds',
  type: 'gauge',
  help: (what: string) => `Start time of the ${what} since unix epoch in seconds`,
  read: ({ startMs }: Measured) => (startMs === undefined ? undefined : startMs / 1000),
} as const;

/** Where pods or figures of them are missing, `resource_scrape_error` is 1. */
export function formatResourceMetrics(parts: SummaryParts): string {
  const error = family(
    {
      name: 'resource_scrape_error',
      type: 'gauge',
      help: '1 if there was an error while getting container metrics, 0 otherwise',
    },
    [{ labels: {}, value: parts.missing === undefined ? 0 : 1, atMs: undefined }],
  );
  const { cpu, memory, swap, atMs } = parts.node;
  const node: Measured = { labels: {}, atMs, cpu, memory, swap };
  const pods = podsInSummary(parts);
  const containers = pods.flatMap(({ at: { name: pod, namespace }, containers: inside }) =>
    inside.map(({ at, used }): Measured => {
      return { labels: { container: at.name, namespace, pod }, ...measuredOf(used), startMs: at.createdMs };
    }),
  );
  const whole = pods.map(({ at: { name: pod, namespace }, used }): Measured => {
    return { labels: { namespace, pod }, ...measuredOf(used) };
  });
  return [
    ...familiesOf('container', containers, [...figures, start]),
    ...familiesOf('node', [node], figures),
    ...familiesOf('pod', whole, figures),
    error,
  ].join('');
}

function measuredOf(used: Partial<Omit<Measured, 'labels'>>): Omit<Measured, 'labels'> {
  return { atMs: used.atMs, cpu: used.cpu, memory: used.memory, swap: used.swap };
}

type Figure = (typeof figures)[number] | typeof start;

function familiesOf(what: string, measured: readonly Measured[], wanted: readonly Figure[]): string[] {
  return wanted.map(({ name, type, help, read }) => {
    const samples = measured.flatMap((each): Sample[] => {
      const value = read(each);
      const { labels, atMs } = each;
      return value === undefined ? [] : [{ labels, value, atMs: name === start.name ? undefined : atMs }];
    });
    return family({ name: `${what}_${name}`, type, help: help(what) }, samples);
  });
}

function family(
  { name, type, help }: { readonly name: string; readonly type: string; readonly help: string },
  samples: readonly Sample[],
): string {
  if (samples.length === 0) return '';
  const lines = samples.map(({ labels, value, atMs }) => {
    const time = atMs === undefined ? '' : ` ${Math.round(atMs)}`;
    return `${name}${formatLabels(labels)} ${value}${time}\n`;
  });
  return `# HELP ${name} [STABLE] ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Names come from the runtime, and could be anything. */
function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function perBillion(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value / 1e9;
}
