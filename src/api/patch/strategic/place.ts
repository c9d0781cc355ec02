import { joinPath } from '../../schema/index.ts';
import { PatchError } from '../patch-error.ts';

/** Where in the patch something stands: a chain towards the root, turned into text only for a report. */
export interface Step {
  readonly parent: Place;
  readonly step: string | number;
}
/** Undefined for the patch as a whole. */
export type Place = Step | undefined;

/** The patch is no patch, whatever it is applied to (400). */
export function malformed(place: Place, message: string): PatchError {
  return new PatchError('malformed', told(place, message));
}

/** The patch does not fit the object (422). */
export function failed(place: Place, message: string): PatchError {
  return new PatchError('failed', told(place, message));
}

function told(place: Place, message: string): string {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.length === 0 ? message : `${joinPath(steps.reverse())}: ${message}`;
}
