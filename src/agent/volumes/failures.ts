import { describeError } from '../../base/index.ts';
import { FinalVolumeError, VolumePendingError } from './kinds/types.ts';
import { VolumeError } from './volume-error.ts';

/** Why a volume of a pod cannot be set up. */
export interface Failure {
  readonly volume: string;
  /** For users, in the words of the reference. */
  readonly text: string;
  /** Whether it is of no use to try it again, or nothing but an answer is missing. */
  readonly is: 'failed' | 'final' | 'pending';
  readonly maxWaitMs?: number | undefined;
}

export function toFailure(volume: string, error: unknown): Failure {
  const why = describeError(error);
  const name = JSON.stringify(volume);
  if (error instanceof VolumePendingError) return { volume, text: `volume ${name}: ${why}`, is: 'pending' };
  const { step, maxWaitMs } = error instanceof VolumeError ? error : new VolumeError(why);
  const text = step === '' ? why : `${step} failed for volume ${name} : ${why}`;
  return { volume, text, is: error instanceof FinalVolumeError ? 'final' : 'failed', maxWaitMs };
}

/** Undefined: nothing is tried again. */
export function chooseWait(failures: readonly Failure[], usualMs: number): number | undefined {
  if (failures.every(({ is }) => is === 'final')) return undefined;
  return Math.min(usualMs, ...failures.map(({ maxWaitMs = usualMs }) => maxWaitMs));
}

/** What failed says more than what is only waited for. */
export function describeFailures(failures: readonly Failure[]): string {
  const failed = failures.filter(({ is }) => is !== 'pending');
  return (failed.length > 0 ? failed : failures).map(({ text }) => text).join('; ');
}
