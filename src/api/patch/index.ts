export { applyJsonPatch } from './json-patch.ts';
export { unknownMembers } from './json-patch-operations.ts';
export { applyMergePatch } from './merge-patch.ts';
export { PatchError } from './patch-error.ts';
export { applyStrategicPatch } from './strategic/index.ts';
