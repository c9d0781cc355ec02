import { StatusError } from '../../../api/index.ts';
import type { WatchEnd } from '../../storage/index.ts';

const soon = { details: { retryAfterSeconds: 1 } };

/** The error for the client of a watch that the server ends: its response, or the last event of its stream. */
export function toWatchError(why: WatchEnd): StatusError {
  switch (why) {
    case 'expired':
      return new StatusError('Expired', 'too old resource version: list again and watch from there');
    case 'failed':
      return new StatusError('InternalError', 'the watch failed: start it again');
    case 'unavailable':
      return new StatusError(
        'ServiceUnavailable',
        'the store cannot answer now: start the watch again',
        soon,
      );
    case 'slow':
      return new StatusError('Expired', 'the reader of the watch fell too far behind: list again');
    case 'stop':
      return new StatusError('ServiceUnavailable', 'the server is stopping', soon);
  }
}

/** The error when the timeout of a watch passed before it could start. */
export function watchTimeout(): StatusError {
  return new StatusError('Timeout', 'the watch could not be started in the time that it was given', soon);
}
