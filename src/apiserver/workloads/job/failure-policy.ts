import type { Job, JobSpec, Pod } from '../../../api/index.ts';
import { hasFailed } from './job-pods.ts';

type Policy = NonNullable<JobSpec['podFailurePolicy']>;
type Rule = NonNullable<Policy['rules']>[number];
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

export interface FailureVerdict {
  /** Of the rule that fits; undefined: none does. */
  readonly action?: string;
  /** Whether the failure counts against the limits. */
  readonly counts: boolean;
  /** Why the whole Job fails. */
  readonly message?: string;
}

/** What follows from the failure of a pod; the first rule that fits decides. */
export function judgeFailure(policy: Policy | undefined, pod: Pod): FailureVerdict {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const what = findMatch(rule, pod);
    if (what === undefined) continue;
    const { action } = rule;
    if (action === 'Ignore') return { action, counts: false };
    if (action !== 'FailJob') return { action, counts: true };
    return { action, counts: true, message: `${what} matching ${action} rule at index ${index}` };
  }
  return { counts: true };
}

/** Why a Job fails because of the way in which one of its pods has failed; undefined: for no such reason. */
export function findJobFailure(job: Job, pods: readonly Pod[]): string | undefined {
  const policy = job.spec?.podFailurePolicy;
  if (policy === undefined) return undefined;
  for (const pod of pods) {
    const message = hasFailed(job, pod) ? judgeFailure(policy, pod).message : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}

/** What of the pod the rule fits, in the reference's words. */
function findMatch({ onExitCodes, onPodConditions }: Rule, { metadata, status }: Pod): string | undefined {
  const pod = `${metadata?.namespace}/${metadata?.name}`;
  if (onExitCodes !== undefined) {
    const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const found = all.find((each) => fitsExitCode(onExitCodes, each));
    if (found === undefined) return undefined;
    return `Container ${found.name} for pod ${pod} failed with exit code ${found.state?.terminated?.exitCode}`;
  }
  const found = status?.conditions?.find((condition) =>
    onPodConditions?.some(
      ({ type, status: wanted = 'True' }) => type === condition.type && wanted === condition.status,
    ),
  );
  return found && `Pod ${pod} has condition ${found.type}`;
}

/** A container that runs, or ended well, fits no rule. */
function fitsExitCode(
  { containerName, operator, values }: NonNullable<Rule['onExitCodes']>,
  { name, state }: ContainerStatus,
): boolean {
  const { exitCode = 0 } = state?.terminated ?? {};
  if (exitCode === 0 || (containerName !== undefined && containerName !== name)) return false;
  return values.includes(exitCode) === (operator === 'In');
}
