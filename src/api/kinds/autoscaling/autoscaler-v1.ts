import { ageColumn, countColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { statusPart } from '../workloads/display.ts';
import { horizontalPodAutoscalerKind } from './autoscaler.ts';
import { autoscalerCauses } from './causes.ts';
import type { HorizontalPodAutoscaler } from './v1-description.ts';
import { horizontalPodAutoscalerRoot } from './v1-description.ts';
import {
  annotationCauses,
  fromStored,
  metricsAnnotation,
  toStored,
  withOldDefaults,
  withStatusOf,
} from './v1-view.ts';

const cpuField = 'spec.targetCPUUtilizationPercentage';

function validate(next: HorizontalPodAutoscaler, previous: HorizontalPodAutoscaler | undefined): Cause[] {
  const unread = annotationCauses(next.metadata?.annotations);
  if (unread.length > 0) return unread;
  const before = previous === undefined ? undefined : toStored(previous);
  return autoscalerCauses(toStored(next), before).map((cause) => ({
    ...cause,
    field: fieldOf(cause.field, next),
  }));
}

/** Where version 1 has a field of version 2: the first metric is that of CPU where version 1 has a field for it. */
function fieldOf(field: string, { spec }: HorizontalPodAutoscaler): string {
  if (!field.startsWith('spec.metrics')) return field;
  const isCpu = field.startsWith('spec.metrics[0]') && spec?.targetCPUUtilizationPercentage !== undefined;
  return isCpu ? cpuField : `metadata.annotations[${metricsAnnotation}]`;
}

/** How many pods something has, by how much CPU they use: another form of the objects of version 2. */
export const horizontalPodAutoscalerV1Kind = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'HorizontalPodAutoscaler',
  doc: 'How many pods something has, by how much CPU they use. The same objects as those of version 2.',
  resource: horizontalPodAutoscalerKind.resource,
  singular: horizontalPodAutoscalerKind.singular,
  shortNames: horizontalPodAutoscalerKind.shortNames,
  categories: horizontalPodAutoscalerKind.categories,
  namespaced: true,
  root: horizontalPodAutoscalerRoot,
  // the annotations of the status are taken from what is stored; its fields alone can be written
  subresources: [{ ...statusPart, metadata: [] }],
  storedAs: { kind: horizontalPodAutoscalerKind, to: toStored, from: fromStored },
  prepare: (next, old) => withStatusOf(old === undefined ? { ...next, status: {} } : next, old),
  default: withOldDefaults,
  validate,
  columns: [
    textColumn('Reference', 0, 'What is scaled.', ({ spec }) =>
      spec?.scaleTargetRef === undefined ? '' : `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    ),
    textColumn('Targets', 0, 'The use of CPU, as it is and as it is wanted.', ({ spec, status }) => {
      const [wanted, used] = [spec?.targetCPUUtilizationPercentage, status?.currentCPUUtilizationPercentage];
      return wanted === undefined
        ? '<none>'
        : `cpu: ${used === undefined ? '<unknown>' : `${used}%`}/${wanted}%`;
    }),
    textColumn('MinPods', 0, 'The least number of pods.', ({ spec }) =>
      String(spec?.minReplicas ?? '<unset>'),
    ),
    countColumn('MaxPods', 'The greatest number of pods.', ({ spec }) => spec?.maxReplicas),
    countColumn('Replicas', 'How many pods there are.', ({ status }) => status?.currentReplicas),
    ageColumn,
  ],
});
