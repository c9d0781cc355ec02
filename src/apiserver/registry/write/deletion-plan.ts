import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, ObjectMeta } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';
import type { Preconditions } from './checks.ts';

/** What becomes of the dependents of an object that is deleted. */
export const propagationPolicies = ['Foreground', 'Background', 'Orphan'] as const;
export type PropagationPolicy = (typeof propagationPolicies)[number];

/** The finalizers that stand for a policy while an object is deleted; the garbage collector takes them off. */
export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/** 68 years: the end must be a time that can be written. */
export const maxGraceSeconds = 2 ** 31 - 1;

/** The grace period that is meant: less than 0 counts as 1, as in the reference. */
export function settleGrace(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}

/** How an object is to be deleted. */
export interface Deletion extends Preconditions {
  gracePeriodSeconds?: number;
  /** Without it the finalizers that the object has already decide, and then it is Background. */
  propagationPolicy?: PropagationPolicy;
}

/** What to do with a stored object that is to be deleted. */
export type Plan<T> = { act: 'remove' } | { act: 'store'; next: T } | { act: 'wait' };

/**
 * An object goes at once, unless it has a grace period, finalizers, or something of its kind holds it: then it is
 * stored with the time of its deletion (specification, section 3.1). A further deletion can shorten the grace period
 * and change the policy; the first one cannot be taken back.
 */
export function planDeletion<T extends ApiObject>(
  old: T,
  asked: Deletion,
  strategy: Strategy<T>,
  now: number,
): Plan<T> {
  const { metadata = {} } = old;
  const ending = endingOf(old, asked, strategy, now);
  if (ending === 'pending') return { act: 'wait' };
  const finalizers = finalizersFor(metadata.finalizers ?? [], asked.propagationPolicy);
  const marked = { ...old, metadata: withFinalizers({ ...advanced(metadata), ...ending }, finalizers) };
  if (isFinished(marked, strategy)) return { act: 'remove' };
  const next = strategy.onTerminating?.(marked) ?? marked;
  return isDeepStrictEqual(next, old) ? { act: 'wait' } : { act: 'store', next };
}

/** Whether nothing holds an object any more that is being deleted. */
export function isFinished<T extends ApiObject>(object: T, strategy: Strategy<T>): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata ?? {};
  if (deletionTimestamp === undefined || finalizers.length > 0) return false;
  return !deletionGracePeriodSeconds && !strategy.isHeld?.(object);
}

type Ending = Required<Pick<ObjectMeta, 'deletionTimestamp' | 'deletionGracePeriodSeconds'>>;

/** When the object is to end; `pending` when that is decided and not changed by this request. */
function endingOf<T extends ApiObject>(
  old: T,
  { gracePeriodSeconds: asked }: Deletion,
  strategy: Strategy<T>,
  now: number,
): Ending | 'pending' {
  const { deletionTimestamp, deletionGracePeriodSeconds: granted = 0 } = old.metadata ?? {};
  if (deletionTimestamp === undefined) {
    const seconds = Math.min(strategy.gracePeriod?.(old, asked) ?? 0, maxGraceSeconds);
    return ending(now + seconds * 1000, seconds);
  }
  const end = Date.parse(deletionTimestamp);
  if (granted === 0) return ending(Math.min(end, now), 0);
  if (asked === undefined || asked >= granted) return 'pending';
  const shortened = end - (granted - asked) * 1000;
  if (shortened >= now) return ending(shortened, asked);
  return ending(now, asked === 0 ? 0 : 1); // the agent that runs it must still learn of the deletion, and removes it
}

function ending(at: number, seconds: number): Ending {
  return { deletionTimestamp: formatTime(at), deletionGracePeriodSeconds: seconds };
}

/** That an object is to go is a change of what is wanted. */
function advanced(metadata: ObjectMeta): ObjectMeta {
  const { generation = 0, deletionTimestamp } = metadata;
  if (generation === 0 || deletionTimestamp !== undefined) return metadata;
  return { ...metadata, generation: generation + 1 };
}

function finalizersFor(finalizers: readonly string[], policy: PropagationPolicy | undefined): string[] {
  if (policy === undefined) return [...finalizers];
  const wanted = { Orphan: orphanFinalizer, Foreground: foregroundFinalizer, Background: undefined }[policy];
  if (wanted !== undefined && finalizers.includes(wanted)) {
    return finalizers.filter((finalizer) => finalizer === wanted || !isPolicy(finalizer));
  }
  const others = finalizers.filter((finalizer) => !isPolicy(finalizer));
  return wanted === undefined ? others : [...others, wanted];
}

function isPolicy(finalizer: string): boolean {
  return finalizer === orphanFinalizer || finalizer === foregroundFinalizer;
}

/** An empty list is as none. */
export function withFinalizers(metadata: ObjectMeta, finalizers: readonly string[]): ObjectMeta {
  const { finalizers: _finalizers, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...rest, finalizers: [...finalizers] };
}
