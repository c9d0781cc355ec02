import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import { statusPart } from '../workloads/display.ts';
import { autoscalerCauses } from './causes.ts';
import { withDefaults } from './defaults.ts';
import type { HorizontalPodAutoscaler, MetricSpec } from './v2-description.ts';
import { horizontalPodAutoscalerRoot } from './v2-description.ts';

const unknown = '<unknown>';

/** `cpu: 20%/80%`, for each metric. */
function targetsText({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec?.metrics ?? [];
  const texts = metrics
    .slice(0, 2)
    .map((metric, index) => targetText(metric, status?.currentMetrics?.[index]));
  if (texts.length === 0) return '<none>';
  return metrics.length > 2 ? `${texts.join(', ')} + ${metrics.length - 2} more...` : texts.join(', ');
}

interface Metric {
  name?: string;
  metric?: { name?: string };
  target?: { value?: string; averageValue?: string; averageUtilization?: number };
  current?: { value?: string; averageValue?: string; averageUtilization?: number };
}

type Current = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number];

function sourceOf(metric: MetricSpec | Current | undefined): Metric {
  return (
    metric?.resource ?? metric?.containerResource ?? metric?.pods ?? metric?.object ?? metric?.external ?? {}
  );
}

function targetText(wanted: MetricSpec, found: Current | undefined): string {
  const { name, target = {} } = sourceOf(wanted);
  const { current } = sourceOf(found);
  const prefix = name === undefined ? '' : `${name}: `;
  if (target.averageUtilization !== undefined) {
    const use = current?.averageUtilization;
    return `${prefix}${use === undefined ? unknown : `${use}%`}/${target.averageUtilization}%`;
  }
  if (target.averageValue !== undefined)
    return `${prefix}${current?.averageValue ?? unknown}/${target.averageValue}${name === undefined && wanted.pods === undefined ? ' (avg)' : ''}`;
  return `${prefix}${current?.value ?? unknown}/${target.value ?? unknown}`;
}

/** How many pods something has, by how much they do. */
export const horizontalPodAutoscalerKind = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  doc: 'How many pods something has, by how much they do.',
  resource: 'horizontalpodautoscalers',
  singular: 'horizontalpodautoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  root: horizontalPodAutoscalerRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  validate: autoscalerCauses,
  columns: [
    textColumn('Reference', 0, 'What is scaled.', ({ spec }) =>
      spec?.scaleTargetRef === undefined ? '' : `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    ),
    textColumn('Targets', 0, 'The metrics, as they are and as they are wanted.', targetsText),
    textColumn('MinPods', 0, 'The least number of pods.', ({ spec }) =>
      String(spec?.minReplicas ?? '<unset>'),
    ),
    {
      name: 'MaxPods',
      type: 'integer',
      description: 'The greatest number of pods.',
      priority: 0,
      value: ({ spec }) => spec?.maxReplicas ?? 0,
    },
    {
      name: 'Replicas',
      type: 'integer',
      description: 'How many pods there are.',
      priority: 0,
      value: ({ status }) => status?.currentReplicas ?? 0,
    },
    ageColumn,
  ],
});
