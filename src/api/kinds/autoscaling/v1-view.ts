import type { Findings, Type } from '../../schema/index.ts';
import { checkerOf, list } from '../../schema/index.ts';
import { invalidValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { horizontalPodAutoscalerKind } from './autoscaler.ts';
import type { HorizontalPodAutoscaler as OldAutoscaler } from './v1-description.ts';
import { fromOldMetrics, toOldMetrics } from './v1-metrics.ts';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  MetricSpec,
  MetricStatus,
} from './v2-description.ts';
import {
  horizontalPodAutoscalerBehavior,
  horizontalPodAutoscalerCondition,
  metricSpec,
  metricStatus,
} from './v2-description.ts';

/*
 * Autoscalers are stored as version 2. Version 1 has no fields for most of what that says, and has it in annotations as JSON:
 * with the names that clients of the reference know. What is in them is a client's text, and is checked like any other.
 */

const prefix = 'autoscaling.alpha.kubernetes.io';
export const metricsAnnotation = `${prefix}/metrics`;
export const behaviorAnnotation = `${prefix}/behavior`;
export const currentMetricsAnnotation = `${prefix}/current-metrics`;
export const conditionsAnnotation = `${prefix}/conditions`;

/** Those that tell what was observed: they are part of the status. */
const statusAnnotations: readonly string[] = [currentMetricsAnnotation, conditionsAnnotation];
const annotations = [metricsAnnotation, behaviorAnnotation, ...statusAnnotations];

type Annotations = Readonly<Record<string, string>>;

function without(given: Annotations | undefined, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([name]) => !names.includes(name)));
}

function withAnnotations<T extends { metadata?: OldAutoscaler['metadata'] }>(
  object: T,
  next: Annotations,
): T {
  const { annotations: _before, ...metadata } = object.metadata ?? {};
  const isNone = Object.keys(next).length === 0;
  return { ...object, metadata: isNone ? metadata : { ...metadata, annotations: { ...next } } };
}

/** An autoscaler of version 1 as it is stored. Annotations that cannot be read are left out: `annotationCauses` refuses them. */
export function toStored(old: OldAutoscaler): HorizontalPodAutoscaler {
  const { spec, status, ...others } = old;
  const { targetCPUUtilizationPercentage: use, ...kept } = spec ?? {};
  const { currentCPUUtilizationPercentage: used, ...observed } = status ?? {};
  const said = readAnnotations(old.metadata?.annotations);
  const currentMetrics = withCurrentUse(said.currentMetrics, used);
  const metrics = [...(use === undefined ? [] : [utilization(use)]), ...(said.metrics ?? [])];
  return withAnnotations(
    {
      ...others,
      ...(spec === undefined
        ? {}
        : {
            spec: {
              scaleTargetRef: spec.scaleTargetRef,
              ...kept,
              ...(metrics.length === 0 ? {} : { metrics }),
              ...(said.behavior === undefined ? {} : { behavior: said.behavior }),
            },
          }),
      ...(status === undefined
        ? {}
        : {
            status: {
              ...observed,
              ...(currentMetrics.length === 0 ? {} : { currentMetrics }),
              ...(said.conditions === undefined ? {} : { conditions: said.conditions }),
            },
          }),
    },
    without(old.metadata?.annotations, annotations),
  );
}

function utilization(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

/** The measured use of CPU as its field says it. */
function withCurrentUse(metrics: readonly MetricStatus[] = [], used: number | undefined): MetricStatus[] {
  const at = metrics.findIndex((metric) => currentUseOf(metric) !== undefined);
  if (used === undefined) return [...metrics];
  const { current } = metrics[at]?.resource ?? {};
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', current: { ...current, averageUtilization: used } },
  };
  return at < 0 ? [cpu, ...metrics] : metrics.with(at, cpu);
}

function useOf({ type, resource }: MetricSpec): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.target?.averageUtilization : undefined;
}

function currentUseOf({ type, resource }: MetricStatus): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.current?.averageUtilization : undefined;
}

/** A stored autoscaler as version 1 shows it. */
export function fromStored(stored: HorizontalPodAutoscaler): OldAutoscaler {
  const { spec, status, ...others } = stored;
  const { metrics = [], behavior, ...kept } = spec ?? {};
  const { currentMetrics = [], conditions = [], ...observed } = status ?? {};
  const at = metrics.findIndex((metric) => useOf(metric) !== undefined);
  const target = metrics.map(useOf)[at];
  const rest = metrics.filter((_, index) => index !== at);
  const used = currentMetrics.map(currentUseOf).find((each) => each !== undefined);
  const said = {
    ...(rest.length === 0 ? {} : { [metricsAnnotation]: JSON.stringify(toOldMetrics(rest, 'target')) }),
    ...(behavior === undefined ? {} : { [behaviorAnnotation]: JSON.stringify(behavior) }),
    ...(currentMetrics.length === 0
      ? {}
      : { [currentMetricsAnnotation]: JSON.stringify(toOldMetrics(currentMetrics, 'current')) }),
    ...(conditions.length === 0 ? {} : { [conditionsAnnotation]: JSON.stringify(conditions) }),
  };
  return withAnnotations(
    {
      ...others,
      ...(spec === undefined
        ? {}
        : {
            spec: {
              ...kept,
              scaleTargetRef: spec.scaleTargetRef,
              ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }),
            },
          }),
      ...(status === undefined
        ? {}
        : {
            status: { ...observed, ...(used === undefined ? {} : { currentCPUUtilizationPercentage: used }) },
          }),
    },
    { ...without(stored.metadata?.annotations, annotations), ...said },
  );
}

interface Said {
  readonly metrics?: MetricSpec[] | undefined;
  readonly behavior?: HorizontalPodAutoscalerBehavior | undefined;
  readonly currentMetrics?: MetricStatus[] | undefined;
  readonly conditions?: HorizontalPodAutoscalerCondition[] | undefined;
}

function readAnnotations(given: Annotations = {}): Said {
  const old = (name: string, part: 'current' | 'target') => fromOldMetrics(parse(given[name]), part);
  return {
    metrics: fitting<MetricSpec[]>(list(metricSpec), old(metricsAnnotation, 'target')),
    behavior: fitting<HorizontalPodAutoscalerBehavior>(
      horizontalPodAutoscalerBehavior,
      parse(given[behaviorAnnotation]),
    ),
    currentMetrics: fitting<MetricStatus[]>(list(metricStatus), old(currentMetricsAnnotation, 'current')),
    conditions: fitting<HorizontalPodAutoscalerCondition[]>(
      list(horizontalPodAutoscalerCondition),
      parse(given[conditionsAnnotation]),
    ),
  };
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value that a description accepts as it is; undefined for any other. */
function fitting<T>(type: Type, value: unknown): T | undefined {
  const findings: Findings = { unknown: [], wrong: [] };
  const checked = value === undefined ? undefined : checkerOf(type)(value, undefined, findings);
  return isClean<T>(checked, findings) ? checked : undefined;
}

/** What the checker of a description returned without a finding is of the type of that description. */
function isClean<T>(value: unknown, { unknown, wrong }: Findings): value is T {
  return value !== undefined && unknown.length + wrong.length === 0;
}

/** The annotations that say something that cannot be read. */
export function annotationCauses(given: Annotations = {}): Cause[] {
  const said = readAnnotations(given);
  const byName = {
    [metricsAnnotation]: said.metrics,
    [behaviorAnnotation]: said.behavior,
    [currentMetricsAnnotation]: said.currentMetrics,
    [conditionsAnnotation]: said.conditions,
  };
  return Object.entries(byName).flatMap(([name, found]) =>
    found !== undefined || given[name] === undefined
      ? []
      : [
          invalidValue(
            `metadata.annotations[${name}]`,
            given[name],
            'is not what the annotation is for, as JSON',
          ),
        ],
  );
}

/** Takes the annotations of the status from the stored object: clients that write the spec do not change them. */
export function withStatusOf(next: OldAutoscaler, old: OldAutoscaler | undefined): OldAutoscaler {
  const { annotations: before = {} } = old?.metadata ?? {};
  const kept = Object.fromEntries(
    Object.entries(before).filter(([name]) => statusAnnotations.includes(name)),
  );
  return withAnnotations(next, { ...without(next.metadata?.annotations, statusAnnotations), ...kept });
}

/** The defaults of version 2, where the annotations can be read. */
export function withOldDefaults(old: OldAutoscaler): OldAutoscaler {
  if (annotationCauses(old.metadata?.annotations).length > 0) return old;
  return fromStored(horizontalPodAutoscalerKind.default(toStored(old)));
}
