import { requiredValue } from '../cause.ts';
import { ageColumn, shortDuration, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import { podColumns, statusPart } from '../workloads/display.ts';
import { jobSelectorCauses, jobSpecCauses } from './causes.ts';
import { jobChangeCauses, jobLabels, jobStatusCauses, newJobCauses, uidLabel } from './change-causes.ts';
import type { Job, JobSpec } from './description.ts';
import { jobRoot } from './description.ts';

/** A new job selects its pods by its own uid, so that no two jobs share pods, unless its writer has chosen labels. */
function withOwnLabels(job: Job): Job {
  const { spec, metadata = {} } = job;
  if (spec === undefined || spec.manualSelector === true) return job;
  const { uid = '', name = '' } = metadata;
  const { template } = spec;
  const labels = { ...jobLabels(name, uid), ...template?.metadata?.labels };
  const own = { ...template, metadata: { ...template?.metadata, labels } };
  const matchLabels = { [uidLabel]: uid, ...spec.selector?.matchLabels };
  return { ...job, spec: { ...spec, selector: { ...spec.selector, matchLabels }, template: own } };
}

function prepare(next: Job, old: Job | undefined): Job {
  return old === undefined ? withOwnLabels({ ...next, status: {} }) : next;
}

const manyFailures = 2 ** 31 - 1;

function withDefaults(job: Job): Job {
  const { spec, metadata } = job;
  if (spec === undefined) return job;
  if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
  const labels = spec.template?.metadata?.labels ?? {};
  const isUnlabelled = Object.keys(metadata?.labels ?? {}).length === 0 && Object.keys(labels).length > 0;
  const isSingle = spec.completions === undefined && spec.parallelism === undefined;
  return {
    ...job,
    ...(isUnlabelled ? { metadata: { ...metadata, labels: { ...labels } } } : {}),
    spec: {
      ...spec,
      ...(isSingle ? { completions: 1 } : {}),
      parallelism: spec.parallelism ?? 1,
      backoffLimit: spec.backoffLimit ?? (spec.backoffLimitPerIndex === undefined ? 6 : manyFailures),
      completionMode: spec.completionMode ?? 'NonIndexed',
      suspend: spec.suspend ?? false,
      manualSelector: spec.manualSelector ?? false,
      podReplacementPolicy:
        spec.podReplacementPolicy ?? (spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'),
      ...withPolicy(spec),
    },
  };
}

/** Conditions of pods are meant to be True unless said otherwise. */
function withPolicy({ podFailurePolicy }: JobSpec): Pick<JobSpec, 'podFailurePolicy'> {
  if (podFailurePolicy === undefined) return {};
  const rules = (podFailurePolicy.rules ?? []).map((rule) =>
    rule.onPodConditions === undefined
      ? rule
      : {
          ...rule,
          onPodConditions: rule.onPodConditions.map((each) => ({ ...each, status: each.status || 'True' })),
        },
  );
  return { podFailurePolicy: { ...podFailurePolicy, rules } };
}

function validate(next: Job, old: Job | undefined): Cause[] {
  const { spec, status } = next;
  if (spec === undefined) return [requiredValue('spec.template')];
  return [
    ...(old === undefined ? newJobCauses(next) : []),
    ...jobSpecCauses(spec, 'spec', old?.spec),
    ...jobSelectorCauses(spec, 'spec'),
    ...(old?.spec === undefined ? [] : jobChangeCauses(spec, old.spec, old.status ?? {}, 'spec')),
    ...jobStatusCauses(status ?? {}, old?.status),
  ];
}

function completionsText({ spec, status }: Job): string {
  const { completions, parallelism = 0 } = spec ?? {};
  const { succeeded = 0 } = status ?? {};
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationText({ status }: Job, now: number): string {
  const { startTime, completionTime } = status ?? {};
  if (!startTime) return '';
  const end = completionTime ? Date.parse(completionTime) : now;
  return shortDuration(Math.trunc((end - Date.parse(startTime)) / 1000));
}

function stateText({ metadata, status }: Job): string {
  const has = (type: string) =>
    status?.conditions?.some((each) => each.type === type && each.status === 'True') === true;
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata?.deletionTimestamp !== undefined) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

/** Pods that run to their end. */
export const jobKind = defineKind<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  doc: 'Pods that run to their end, until enough of them have succeeded.',
  resource: 'jobs',
  singular: 'job',
  categories: ['all'],
  namespaced: true,
  root: jobRoot,
  subresources: [statusPart],
  prepare,
  default: withDefaults,
  validate,
  columns: [
    textColumn('Status', 0, 'How far the job is.', stateText),
    textColumn('Completions', 0, 'How many pods have succeeded, of those wanted.', completionsText),
    {
      name: 'Duration',
      type: 'string',
      description: 'How long the job has run.',
      priority: 0,
      value: durationText,
    },
    ageColumn,
    ...podColumns<Job>(
      ({ spec }) => spec?.template,
      ({ spec }) => spec?.selector,
    ),
  ],
  selectable: [{ path: 'status.successful', value: ({ status }) => String(status?.succeeded ?? 0) }],
});
