import { invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, ageOf, countColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import { negativeCauses } from '../workloads/causes.ts';
import { podColumns, statusPart } from '../workloads/display.ts';
import { jobSpecCauses } from './causes.ts';
import type { CronJob, CronJobSpec } from './description.ts';
import { cronJobRoot } from './description.ts';
import { checkSchedule, checkTimeZone } from './schedule.ts';

function withDefaults(cronJob: CronJob): CronJob {
  const { spec } = cronJob;
  if (spec === undefined) return cronJob;
  const template = spec.jobTemplate?.spec?.template;
  if (template?.spec !== undefined) defaultPodSpec(template.spec);
  return {
    ...cronJob,
    spec: {
      ...spec,
      concurrencyPolicy: spec.concurrencyPolicy || 'Allow',
      suspend: spec.suspend ?? false,
      successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? 3,
      failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? 1,
    },
  };
}

/** The name of a job has eleven characters more than that of its schedule. */
const nameLimit = 52;

function validate({ metadata, spec }: CronJob, old: CronJob | undefined): Cause[] {
  if (spec === undefined) return [requiredValue('spec.schedule'), requiredValue('spec.jobTemplate')];
  const { name = '' } = metadata ?? {};
  const numbers = [
    'startingDeadlineSeconds',
    'successfulJobsHistoryLimit',
    'failedJobsHistoryLimit',
  ] as const;
  const isLong = old === undefined && name.length > nameLimit;
  return [
    ...(isLong ? [invalidValue('metadata.name', name, `must be no more than ${nameLimit} characters`)] : []),
    ...scheduleCauses(spec, old?.spec),
    ...negativeCauses(spec, numbers, 'spec'),
    ...policyCauses(spec.concurrencyPolicy),
    ...templateCausesOf(spec, old?.spec),
  ];
}

function policyCauses(policy: string | undefined): Cause[] {
  const field = 'spec.concurrencyPolicy';
  const known = ['Allow', 'Forbid', 'Replace'];
  return policy === undefined || known.includes(policy) ? [] : [unsupportedValue(field, policy, known)];
}

function scheduleCauses({ schedule, timeZone }: CronJobSpec, old: CronJobSpec | undefined): Cause[] {
  const field = 'spec.schedule';
  const isZoned = /TZ/.test(schedule ?? '');
  const zoned = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  const wasZoned = /TZ/.test(old?.schedule ?? '');
  return [
    ...(schedule === '' || schedule === undefined
      ? schedule === undefined
        ? []
        : [requiredValue(field)]
      : invalidUnless(field, schedule, checkSchedule(schedule))),
    ...(isZoned && (timeZone !== undefined || !wasZoned) ? [invalidValue(field, schedule, zoned)] : []),
    ...(timeZone === undefined || timeZone === old?.timeZone
      ? []
      : invalidUnless('spec.timeZone', timeZone, checkTimeZone(timeZone))),
  ];
}

function templateCausesOf({ jobTemplate }: CronJobSpec, old: CronJobSpec | undefined): Cause[] {
  const path = 'spec.jobTemplate.spec';
  const spec = jobTemplate?.spec;
  if (spec === undefined) return jobTemplate === undefined ? [] : [requiredValue(`${path}.template`)];
  const own = '`selector` will be auto-generated';
  return [
    ...(spec.manualSelector === true
      ? [unsupportedValue(`${path}.manualSelector`, spec.manualSelector, ['nil', 'false'])]
      : []),
    ...(spec.selector === undefined ? [] : [invalidValue(`${path}.selector`, spec.selector, own)]),
    ...jobSpecCauses(spec, path, old?.jobTemplate?.spec),
  ];
}

/** Jobs that are begun at certain times. */
export const cronJobKind = defineKind<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  doc: 'Jobs that are begun at certain times.',
  resource: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  root: cronJobRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  validate,
  columns: [
    textColumn('Schedule', 0, 'When jobs are begun.', ({ spec }) => spec?.schedule ?? ''),
    textColumn('Timezone', 0, 'Time zone of the schedule.', ({ spec }) => spec?.timeZone ?? '<none>'),
    {
      name: 'Suspend',
      type: 'boolean',
      description: 'Whether no jobs are begun for now.',
      priority: 0,
      value: ({ spec }) => ((spec?.suspend ?? false) ? 'True' : 'False'),
    },
    countColumn('Active', 'How many jobs are running.', ({ status }) => status?.active?.length),
    {
      name: 'Last Schedule',
      type: 'string',
      description: 'Time since a job was last begun.',
      priority: 0,
      value: ({ status }, now) => (status?.lastScheduleTime ? ageOf(status.lastScheduleTime, now) : '<none>'),
    },
    ageColumn,
    ...podColumns<CronJob>(
      ({ spec }) => spec?.jobTemplate?.spec?.template,
      ({ spec }) => spec?.jobTemplate?.spec?.selector,
    ),
  ],
});
