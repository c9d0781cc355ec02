import type { StatusReason } from '../../api/index.ts';
import { StatusError, statusReasons } from '../../api/index.ts';
import type { AnswerFault } from '../types.ts';

/** The default reason for each status code. */
const defaultReasons = new Map<number, StatusReason>([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

/** The error with which a request is answered. Throws a TypeError for one that the server never returns. */
export function toStatusError({ status, reason, message, retryAfterSeconds }: AnswerFault): StatusError {
  const defaultReason = defaultReasons.get(status);
  if (defaultReason === undefined) {
    throw new TypeError(`cannot answer ${status}: use one of ${[...defaultReasons.keys()].join(', ')}`);
  }
  if (retryAfterSeconds !== undefined && !(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 0)) {
    throw new TypeError(`retryAfterSeconds is a whole number of seconds, not ${retryAfterSeconds}`);
  }
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const text = message ?? `a fault of the test: ${reason ?? defaultReason}`;
  return new StatusError(reason === undefined ? defaultReason : checkReason(reason, status), text, {
    code: status,
    ...details,
  });
}

function checkReason(reason: string, status: number): StatusReason {
  for (const [name, code] of Object.entries(statusReasons)) {
    if (name === reason && code === status && isReason(name)) return name;
  }
  throw new TypeError(`${JSON.stringify(reason)} is no reason for status ${status}`);
}

function isReason(name: string): name is StatusReason {
  return Object.hasOwn(statusReasons, name);
}
