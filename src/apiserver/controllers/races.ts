import { StatusError } from '../../api/index.ts';

const races = ['AlreadyExists', 'Conflict', 'NotFound'];

/** For the failure of a write: another has made, changed or deleted the object meanwhile, which is looked at again then. */
export function ignoreRace(error: unknown): void {
  if (!(error instanceof StatusError && races.includes(error.reason))) throw error;
}
