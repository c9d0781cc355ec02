export { applyConfiguration } from './apply.ts';
export { sameJson } from './json.ts';
export { managedFieldsCauses, managerCauses } from './read-entries.ts';
export { trackUpdate } from './track.ts';
export { ApplyConflictError, type Conflict, type ConflictCause, type Writer } from './types.ts';
export { withManagersLeft, withoutUndone } from './undone.ts';
