import type { MetricSpec, MetricStatus } from './v2-description.ts';

/*
 * The metrics of an autoscaler as version 1 has them in annotations: there, values have names of their own for what is wanted and
 * for what is measured, and stand beside the name of the metric.
 */

type Values = Readonly<Record<string, unknown>>;

/** What all sources of metrics have, each some of it. */
interface Source {
  readonly describedObject?: unknown;
  readonly metric?: { readonly name?: string; readonly selector?: unknown };
  readonly name?: string;
  readonly container?: string;
  readonly target?: Amount;
  readonly current?: Amount;
}
interface Amount {
  readonly type?: unknown;
  readonly value?: unknown;
  readonly averageValue?: unknown;
  readonly averageUtilization?: unknown;
}

const sources = ['object', 'pods', 'resource', 'containerResource', 'external'] as const;

function defined(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The names of the values of a source, in a spec or in a status. */
function namesOf(source: string, part: 'current' | 'target'): Record<'average' | 'use' | 'value', string> {
  return {
    value: `${part}Value`,
    average: source === 'object' ? 'averageValue' : `${part}AverageValue`,
    use: `${part}AverageUtilization`,
  };
}

/** Metrics in the form of version 1. */
export function toOldMetrics(
  metrics: readonly (MetricSpec | MetricStatus)[],
  part: 'current' | 'target',
): Values[] {
  return metrics.map((metric) => ({
    type: metric.type,
    ...defined(
      Object.fromEntries(sources.map((source) => [source, toOldSource(source, metric[source], part)])),
    ),
  }));
}

function toOldSource(
  source: string,
  given: Source | undefined,
  part: 'current' | 'target',
): Values | undefined {
  if (given === undefined) return undefined;
  const names = namesOf(source, part);
  const { value, averageValue, averageUtilization } = given[part] ?? {};
  return defined({
    target: given.describedObject,
    metricName: given.metric?.name,
    [source === 'external' ? 'metricSelector' : 'selector']: given.metric?.selector,
    name: given.name,
    container: given.container,
    [names.value]: value ?? (source === 'object' ? '0' : undefined), // no pointer there
    [names.average]: averageValue,
    [names.use]: averageUtilization,
  });
}

/** Metrics out of the form of version 1, not checked yet; undefined when they are no list of objects. */
export function fromOldMetrics(given: unknown, part: 'current' | 'target'): Values[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const found: Values[] = [];
  for (const metric of given) {
    if (!isValues(metric)) return undefined;
    const parts = sources.map((source) => [source, fromOldSource(source, metric[source], part)]);
    found.push(defined({ type: metric['type'], ...Object.fromEntries(parts) }));
  }
  return found;
}

function fromOldSource(source: string, given: unknown, part: 'current' | 'target'): unknown {
  if (!isValues(given)) return given;
  const names = namesOf(source, part);
  const [value, averageValue, averageUtilization] = [
    given[names.value],
    given[names.average],
    given[names.use],
  ];
  const isAverage = averageValue !== undefined || source === 'pods';
  const isUnset = source === 'object' && isAverage && value === '0';
  const type = averageUtilization !== undefined ? 'Utilization' : isAverage ? 'AverageValue' : 'Value';
  const amount = defined({ value: isUnset ? undefined : value, averageValue, averageUtilization });
  const selector = given[source === 'external' ? 'metricSelector' : 'selector'];
  const isNamed = source === 'object' || source === 'pods' || source === 'external';
  return defined({
    describedObject: given['target'],
    metric: isNamed ? defined({ name: given['metricName'], selector }) : undefined,
    name: given['name'],
    container: given['container'],
    [part]: part === 'target' ? { type, ...amount } : amount,
  });
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
