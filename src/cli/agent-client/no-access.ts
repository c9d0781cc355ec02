import { StatusError } from '../../api/index.ts';
import { ExitError } from '../../base/index.ts';

/** What was asked may be well: the user has no credentials for it, or those that there are do not allow it. */
export class NoAccessError extends ExitError {}

/** Whether an error says only what the user may not look at. */
export function isNoAccess(error: unknown): boolean {
  return error instanceof NoAccessError || (error instanceof StatusError && error.code === 403);
}
