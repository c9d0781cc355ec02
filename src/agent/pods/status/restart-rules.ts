import type { Pod } from '../../../api/index.ts';
import type { TypedContainer } from './pod-parts.ts';

/**
 * Whether a container that ended with `exitCode` is started again: by the first of its rules that matches, else by its own
 * policy, else by that of the pod.
 */
export function restartsAfter({ type, spec }: TypedContainer, { spec: of }: Pod, exitCode: number): boolean {
  if (type === 'ephemeral') return false;
  if (type === 'sidecar') return true;
  const ofPod = of?.restartPolicy ?? 'Always';
  if (spec.restartPolicy === undefined) return restartsBy(type === 'init' ? ofInit(ofPod) : ofPod, exitCode);
  const isRuled = spec.restartPolicyRules?.some(({ exitCodes }) => matches(exitCodes, exitCode)) ?? false;
  return isRuled || restartsBy(spec.restartPolicy, exitCode);
}

type ExitCodes = { readonly operator: string; readonly values?: readonly number[] };

/** Every action that there is restarts the container. */
function matches(exitCodes: ExitCodes | undefined, exitCode: number): boolean {
  if (exitCodes === undefined) return false;
  const isListed = exitCodes.values?.includes(exitCode) ?? false;
  return exitCodes.operator === 'NotIn' ? !isListed : isListed;
}

/** An init container that has succeeded is done, whatever the policy of the pod. */
function ofInit(policy: string): string {
  return policy === 'Always' ? 'OnFailure' : policy;
}

function restartsBy(policy: string, exitCode: number): boolean {
  if (policy === 'Never') return false;
  return policy === 'OnFailure' ? exitCode !== 0 : true;
}
