export { applyConfiguration } from './apply.ts';
export { withoutIneffectiveFields, withRemainingManagers } from './ineffective-fields.ts';
export { isSameJson } from './json-values.ts';
export { managedFieldsCauses, managerCauses } from './read-entries.ts';
export { trackUpdate } from './track.ts';
export { ApplyConflictError, type Conflict, type ConflictCause, type Writer } from './types.ts';
