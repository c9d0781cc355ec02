import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, int64, list, required, string, struct, time } from '../../schema/index.ts';
import { objectReference } from '../core/object-reference.ts';
import { objectStruct } from '../define.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { pointer } from '../pod-spec/wire.ts';
import { podTemplateSpec } from '../workloads/template.ts';

const podFailurePolicyOnExitCodesRequirement = struct('PodFailurePolicyOnExitCodesRequirement', {
  containerName: field(1, string, 'The container that is meant; all when absent.', pointer),
  operator: required(2, string, 'In or NotIn.'),
  values: required(3, list(int32, { list: 'set' }), 'Exit codes.'),
});

const podFailurePolicyOnPodConditionsPattern = struct('PodFailurePolicyOnPodConditionsPattern', {
  type: required(1, string, 'Type of the condition.'),
  status: field(2, string, 'Status of the condition.', { written: true }),
});

const podFailurePolicyRule = struct('PodFailurePolicyRule', {
  action: required(1, string, 'FailJob, FailIndex, Ignore or Count.'),
  onExitCodes: field(2, podFailurePolicyOnExitCodesRequirement, 'Exit codes that the rule is for.'),
  onPodConditions: field(
    3,
    list(podFailurePolicyOnPodConditionsPattern),
    'Conditions of the pod that the rule is for.',
  ),
});

const podFailurePolicy = struct('PodFailurePolicy', {
  rules: required(1, list(podFailurePolicyRule), 'The rules; the first that fits counts.'),
});

const successPolicyRule = struct('SuccessPolicyRule', {
  succeededIndexes: field(1, string, 'Indexes that must succeed: 1,3-5.', pointer),
  succeededCount: field(2, int32, 'How many indexes must succeed.', pointer),
});

const successPolicy = struct('SuccessPolicy', {
  rules: required(1, list(successPolicyRule), 'The rules; one that holds is enough.'),
});

export const jobSpec = struct('JobSpec', {
  parallelism: field(1, int32, 'How many pods may run at a time.', pointer),
  completions: field(2, int32, 'How many pods must succeed.', pointer),
  activeDeadlineSeconds: field(3, int64, 'Seconds after which the job is ended.', pointer),
  podFailurePolicy: field(11, podFailurePolicy, 'What follows from the way in which a pod fails.'),
  successPolicy: field(16, successPolicy, 'When the job has succeeded although pods still run.'),
  backoffLimit: field(7, int32, 'How often pods may fail; 6 when absent.', pointer),
  backoffLimitPerIndex: field(12, int32, 'How often the pods of one index may fail.', pointer),
  maxFailedIndexes: field(13, int32, 'How many indexes may fail.', pointer),
  selector: field(4, labelSelector, 'Labels of the pods that belong to it.'),
  manualSelector: field(5, bool, 'Whether labels and selector are those of the writer.', pointer),
  template: required(6, podTemplateSpec, 'The pods to be made.'),
  ttlSecondsAfterFinished: field(8, int32, 'Seconds after its end at which the job is deleted.', pointer),
  completionMode: field(9, string, 'NonIndexed or Indexed.', pointer),
  suspend: field(10, bool, 'Whether the job has no pods for now.', pointer),
  podReplacementPolicy: field(14, string, 'TerminatingOrFailed or Failed: when a pod is replaced.', pointer),
  managedBy: field(15, string, 'Which controller runs the job.', pointer),
});

export interface JobSpec extends Infer<typeof jobSpec> {}

const jobCondition = struct('JobCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastProbeTime: field(3, time, 'When the condition was last looked at.', { written: true }),
  lastTransitionTime: field(4, time, 'When the status last changed.', { written: true }),
  reason: field(5, string, 'Why, for programs.'),
  message: field(6, string, 'Why, for people.'),
});

const uncountedTerminatedPods = struct('UncountedTerminatedPods', {
  succeeded: field(1, list(string, { list: 'set' }), 'Those that succeeded, by uid.'),
  failed: field(2, list(string, { list: 'set' }), 'Those that failed, by uid.'),
});

const jobStatus = struct('JobStatus', {
  conditions: field(
    1,
    list(jobCondition, { list: 'atomic', patch: { merge: true, key: 'type' } }),
    'Conditions of the object.',
  ),
  startTime: field(2, time, 'When the job was begun.'),
  completionTime: field(3, time, 'When the job succeeded.'),
  active: field(4, int32, 'How many pods are pending or running.'),
  succeeded: field(5, int32, 'How many pods have succeeded.'),
  failed: field(6, int32, 'How many pods have failed.'),
  terminating: field(11, int32, 'How many pods are being deleted.', pointer),
  completedIndexes: field(7, string, 'Indexes that have succeeded: 1,3-5.'),
  failedIndexes: field(10, string, 'Indexes that have failed: 1,3-5.', pointer),
  uncountedTerminatedPods: field(8, uncountedTerminatedPods, 'Pods that have ended and are not counted yet.'),
  ready: field(9, int32, 'How many pods are ready.', pointer),
});

export interface JobStatus extends Infer<typeof jobStatus> {}

export const jobRoot = objectStruct('Job', {
  spec: field(2, jobSpec, 'Desired state.', { default: {} }),
  status: field(3, jobStatus, 'Observed state.', { default: {} }),
});

export interface Job extends Infer<typeof jobRoot> {}

const jobTemplateSpec = struct('JobTemplateSpec', {
  metadata: field(1, objectMeta, 'Labels and annotations of the jobs.', { default: {} }),
  spec: field(2, jobSpec, 'Desired state of the jobs.', { default: {} }),
});

const cronJobSpec = struct('CronJobSpec', {
  schedule: required(1, string, 'When jobs are begun, in the format of cron.'),
  timeZone: field(8, string, 'Name of the time zone of the schedule.', pointer),
  startingDeadlineSeconds: field(2, int64, 'Seconds by which a job may be late.', pointer),
  concurrencyPolicy: field(3, string, 'Allow, Forbid or Replace: what happens while an earlier job runs.'),
  suspend: field(4, bool, 'Whether no jobs are begun for now.', pointer),
  jobTemplate: required(5, jobTemplateSpec, 'The jobs to be made.'),
  successfulJobsHistoryLimit: field(6, int32, 'How many jobs that succeeded are kept.', pointer),
  failedJobsHistoryLimit: field(7, int32, 'How many jobs that failed are kept.', pointer),
});

export interface CronJobSpec extends Infer<typeof cronJobSpec> {}

const cronJobStatus = struct('CronJobStatus', {
  active: field(1, list(objectReference), 'Jobs that are running.'),
  lastScheduleTime: field(4, time, 'When a job was last begun.'),
  lastSuccessfulTime: field(5, time, 'When a job last succeeded.'),
});

export const cronJobRoot = objectStruct('CronJob', {
  spec: field(2, cronJobSpec, 'Desired state.', { default: {} }),
  status: field(3, cronJobStatus, 'Observed state.', { default: {} }),
});

export interface CronJob extends Infer<typeof cronJobRoot> {}
