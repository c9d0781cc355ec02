import type { FailureCode, Outcome } from '../types.ts';
import { StorageError } from '../types.ts';
import { failure } from '../write-checks.ts';
import type { EtcdFailure } from './wire/errors.ts';
import { EtcdError } from './wire/errors.ts';
import type { Failed, Written } from './write.ts';

/** Whether it is an outcome of the storage contract. */
export function isOutcome(outcome: Written | Failed): outcome is Written {
  return outcome.ok || outcome.code === 'conflict';
}

const codes: Readonly<Record<EtcdFailure, FailureCode>> = {
  away: 'unavailable',
  unknown: 'unknown',
  compacted: 'unavailable',
  future: 'unavailable',
  full: 'full',
  tooLarge: 'tooLarge',
  tooLong: 'unknown', // it was done, but its answer could not be read
  denied: 'unavailable',
  failed: 'unavailable',
};

/** The outcome of a write whose call failed. */
export function toFailedOutcome(key: string, error: unknown): Outcome {
  const code = error instanceof EtcdError ? codes[error.reason] : 'unknown';
  const why = error instanceof Error ? error.message : String(error);
  return failure(code, new Error(`cannot store ${key}: ${why}`, { cause: error }));
}

/** The error of a read whose call failed. */
export function toStorageError(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new StorageError('unavailable', `the store cannot answer: ${why}`, { cause: error });
}

/** The outcome of a write that etcd did not do. */
export function toRefusedOutcome({ mark: { to, moved } }: Failed): Outcome {
  const why = moved
    ? `the store was moved to ${to}, where it goes on; it takes no writes here`
    : `the store is being moved to ${to}: it takes no writes meanwhile`;
  return failure('unavailable', new StorageError('moved', `${why}; nothing was changed`));
}
