import type { Pod } from '../../../api/index.ts';
import { isActive, isReady } from '../pod-state.ts';

const maxLength = 300;

/** What the first pod that is not ready waits for, as text for people; empty where all are ready, or nothing says why. */
export function explainWaiting(pods: readonly Pod[]): string {
  for (const pod of pods) {
    if (!isActive(pod) || isReady(pod)) continue;
    const why = explainPod(pod);
    if (why !== undefined) return shorten(`Pod "${pod.metadata?.name}": ${why}`);
  }
  return '';
}

function explainPod({ spec, status = {} }: Pod): string | undefined {
  const unscheduled = status.conditions?.find(
    ({ type, status: state }) => type === 'PodScheduled' && state === 'False',
  );
  if (unscheduled !== undefined) return join('not scheduled', unscheduled.message);
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  for (const { name, state, lastState, ready, started } of statuses) {
    const { waiting, terminated } = state ?? {};
    const ended = terminated ?? lastState?.terminated;
    const container = `container "${name}"`;
    if (waiting?.reason && !ordinary.has(waiting.reason))
      return join(`${container} waits`, waiting.reason, waiting.message, ended && describeEnd(ended));
    if (terminated !== undefined && terminated.exitCode !== 0)
      return `${container} ${describeEnd(terminated)}`;
    if (state?.running !== undefined && !ready)
      return `${container} is ${started === false ? 'not started' : 'not ready'}`;
  }
  return spec?.nodeName ? undefined : 'no node';
}

/** What every container waits for at first. */
const ordinary: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

function describeEnd({ reason, exitCode }: { reason?: string; exitCode?: number }): string {
  return `ended with exit code ${exitCode ?? 0}${reason ? ` (${reason})` : ''}`;
}

function join(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part).join(': ');
}

function shorten(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
