import { joinPath } from '../../schema/index.ts';
import { PatchError } from '../patch-error.ts';

/** A position in the patch: a chain towards the root, formatted only for an error. */
export interface Step {
  readonly parent: Place;
  readonly step: string | number;
}
/** Undefined for the patch as a whole. */
export type Place = Step | undefined;

/** The patch is invalid for every object (400). */
export function malformed(place: Place, message: string): PatchError {
  return new PatchError('malformed', formatMessage(place, message));
}

/** The patch does not fit the object (422). */
export function failed(place: Place, message: string): PatchError {
  return new PatchError('failed', formatMessage(place, message));
}

function formatMessage(place: Place, message: string): string {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.length === 0 ? message : `${joinPath(steps.reverse())}: ${message}`;
}
