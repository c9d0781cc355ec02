import type { Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';

/** Why a pod is ended that did nothing wrong: its condition DisruptionTarget. */
export interface Disruption {
  readonly reason: string;
  readonly message: string;
}

/** The pod with that condition; one that has it for the same reason stays as it is. */
export function withDisruption(pod: Pod, { reason, message }: Disruption, now: number): Pod {
  const disruption = { type: 'DisruptionTarget', status: 'True', reason, message };
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === disruption.type);
  if (before?.status === disruption.status && before.reason === disruption.reason) return pod;
  const others = conditions.filter((condition) => condition !== before);
  const added = { ...disruption, lastTransitionTime: formatTime(now) };
  return { ...pod, status: { ...pod.status, conditions: [...others, added] } };
}
