import type { Exit, PodContainer } from './containers.ts';
import type { RestartRule } from './spec.ts';

/** What follows the end of a container. */
export type AfterExit = 'restart' | 'restartAll' | 'nothing';

/** Rules on exit codes go first, then the container's own policy, then the pod's. */
export function afterExit(container: PodContainer, exit: Exit, podPolicy: string): AfterExit {
  if (container.type === 'ephemeral') return 'nothing';
  if (container.record?.restartOf === exit.id) return 'restart';
  const rule = exit.isProven ? findRule(container.spec.restartPolicyRules ?? [], exit.exitCode) : undefined;
  if (rule?.action === 'RestartAllContainers') return 'restartAll';
  if (container.type === 'init' && !hasFailed(container, exit)) return 'nothing';
  if (rule?.action === 'Restart') return 'restart';
  const policy = container.spec.restartPolicy ?? podPolicy;
  if (policy === 'Never') return 'nothing';
  return policy === 'OnFailure' && !hasFailed(container, exit) ? 'nothing' : 'restart';
}

/** Whether it counts as failed; an init container does too when the kernel killed one of its processes. */
export function hasFailed({ type }: PodContainer, { exitCode, reason, isProven }: Exit): boolean {
  return exitCode !== 0 || !isProven || (type === 'init' && reason === 'OOMKilled');
}

/** Whether a container that its probe stopped is started again: there is no exit code for rules yet. */
export function restartsAfterProbe({ spec }: PodContainer, podPolicy: string): boolean {
  return (spec.restartPolicy ?? podPolicy) !== 'Never';
}

function findRule(rules: readonly RestartRule[], exitCode: number): RestartRule | undefined {
  return rules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'NotIn' ? !isListed : exitCodes.operator === 'In' && isListed;
  });
}
