/** Jobs and pods of which something is decided. */
import type { Job, JobSpec, JobStatus, Pod } from '../../../../../src/api/index.ts';
import { trackingFinalizer } from '../../../../../src/apiserver/workloads/job/job-pods.ts';

export const nowMs = Date.parse('2025-01-01T01:00:00Z');
export const at = (secondsAgo: number) =>
  new Date(nowMs - secondsAgo * 1000).toISOString().replace('.000Z', 'Z');
export const job = (spec: Partial<JobSpec>, status: JobStatus = {}): Job => ({
  metadata: { name: 'job', namespace: 'ns', uid: 'job-uid' },
  spec: { template: { spec: { containers: [] } }, parallelism: 1, backoffLimit: 6, ...spec },
  status: { startTime: at(600), ...status },
});

export interface PodFacts {
  phase?: string;
  index?: number;
  isCounted?: boolean;
  isGoing?: boolean;
  endedAgo?: number;
  failures?: number;
  node?: string;
}
export function pod(uid: string, facts: PodFacts = {}): Pod {
  const { phase = 'Running', index, isCounted = false, isGoing = false, endedAgo = 60, failures = 0 } = facts;
  const ready = { type: 'Ready', status: 'False', lastTransitionTime: at(endedAgo) };
  return {
    metadata: {
      ...{ name: uid, namespace: 'ns', uid, creationTimestamp: at(500) },
      ...(isCounted ? {} : { finalizers: [trackingFinalizer] }),
      ...(isGoing ? { deletionTimestamp: at(10) } : {}),
      annotations: {
        ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) }),
        'batch.kubernetes.io/job-index-failure-count': String(failures),
      },
    },
    spec: { containers: [], nodeName: facts.node ?? 'node' },
    status: { phase, conditions: [ready] },
  };
}
export const ok = { phase: 'Succeeded' };
export const bad = { phase: 'Failed' };
export const failing = { type: 'FailureTarget', status: 'True', reason: 'R', message: 'M' };
export const succeeding = { type: 'SuccessCriteriaMet', status: 'True', reason: 'R', message: 'M' };
export const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2 };
export const perIndex = { ...indexed, backoffLimitPerIndex: 1, backoffLimit: 1000 };
