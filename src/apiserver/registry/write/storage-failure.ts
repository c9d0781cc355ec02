import { StatusError } from '../../../api/index.ts';
import type { FailureCode } from '../../storage/index.ts';
import { StorageError } from '../../storage/index.ts';

/** The error for the client when a commit failed other than by a conflict. */
export function storageFailure(code: FailureCode, cause: Error): StatusError {
  switch (code) {
    case 'full':
      return retriable('the store has no room left on its disk; nothing was changed', cause);
    case 'unavailable':
      if (cause instanceof StorageError && cause.code === 'moved') return retriable(cause.message, cause);
      return retriable('the store cannot take writes now; nothing was changed', cause);
    case 'unknown':
      return new StatusError(
        'Timeout',
        'the store failed; whether the change was kept is not known: read it again',
        {
          details: { retryAfterSeconds: 1 },
          cause,
        },
      );
    case 'tooLarge':
      return new StatusError('RequestEntityTooLarge', `the object is too large: ${cause.message}`, { cause });
    case 'invalid':
      return new StatusError('BadRequest', `the object cannot be stored under this name: ${cause.message}`, {
        cause,
      });
  }
}

function retriable(message: string, cause: Error): StatusError {
  return new StatusError('ServiceUnavailable', message, { details: { retryAfterSeconds: 1 }, cause });
}
