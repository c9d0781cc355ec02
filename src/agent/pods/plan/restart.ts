/** What follows the end of a container. The plan and the status decide it by this alone. */
import type { Exit, PodContainer } from './containers.ts';
import type { RestartRule, TypedSpec } from './spec.ts';

export type AfterExit = 'restart' | 'restartAll' | 'nothing';

/** How a container ended, as far as that decides what follows. */
export interface End {
  readonly exitCode: number;
  readonly reason?: string | undefined;
}

/** As `afterEnd`; but one that was stopped so as to start another is followed by that. */
export function afterExit(container: PodContainer, exit: Exit, podPolicy: string): AfterExit {
  const isOrdered = container.type !== 'ephemeral' && container.record?.restartOf === exit.id;
  return isOrdered ? 'restart' : afterEnd(container, exit, podPolicy);
}

/** Rules on exit codes go first, then the container's own policy, then the pod's. */
export function afterEnd({ type, spec }: TypedSpec, end: End, podPolicy: string): AfterExit {
  if (type === 'ephemeral') return 'nothing';
  const rule = isProven(end) ? findRule(spec.restartPolicyRules ?? [], end.exitCode) : undefined;
  if (rule?.action === restartAllAction) return 'restartAll';
  if (type === 'init' && !hasFailed({ type }, end)) return 'nothing';
  if (rule?.action === 'Restart') return 'restart';
  const policy = spec.restartPolicy ?? podPolicy;
  if (policy === 'Never') return 'nothing';
  return policy === 'OnFailure' && !hasFailed({ type }, end) ? 'nothing' : 'restart';
}

/** Whether it counts as failed; an init container does too when the kernel killed one of its processes. */
export function hasFailed({ type }: Pick<TypedSpec, 'type'>, end: End): boolean {
  return end.exitCode !== 0 || !isProven(end) || (type === 'init' && end.reason === 'OOMKilled');
}

/**
 * Whether the runtime saw the end itself, so that the exit code says something: one that was away when a container ended makes
 * 255 up.
 */
function isProven({ exitCode, reason }: End): boolean {
  return !(exitCode === 255 && reason === 'Unknown') && reason !== 'ContainerStatusUnknown';
}

/** Whether a container that its probe stopped is started again: there is no exit code for rules yet. */
export function restartsAfterProbe({ spec }: PodContainer, podPolicy: string): boolean {
  return (spec.restartPolicy ?? podPolicy) !== 'Never';
}

const restartAllAction = 'RestartAllContainers';

/** Whether the end of one of them may restart all. */
export function canRestartAll(containers: readonly TypedSpec[]): boolean {
  const rules = containers.flatMap(({ spec }) => spec.restartPolicyRules ?? []);
  return rules.some(({ action }) => action === restartAllAction);
}

function findRule(rules: readonly RestartRule[], exitCode: number): RestartRule | undefined {
  return rules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'NotIn' ? !isListed : exitCodes.operator === 'In' && isListed;
  });
}
