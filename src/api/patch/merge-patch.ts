import { isRecord } from '../schema/index.ts';
import { copyJson } from './copy-json.ts';
import { setOwn } from './set-own.ts';

/**
 * Applies a JSON Merge Patch (RFC 7386): members of objects are merged, null removes one, all else replaces. Neither
 * argument is changed, and the result shares nothing with them. Both must be nested no deeper than a body may be.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return copyJson(patch);
  const merged: Record<string, unknown> = {};
  const source = isRecord(document) ? document : {};
  for (const [key, value] of Object.entries(source)) {
    if (!Object.hasOwn(patch, key)) setOwn(merged, key, copyJson(value));
    else if (patch[key] !== null) setOwn(merged, key, applyMergePatch(value, patch[key]));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !Object.hasOwn(source, key)) setOwn(merged, key, applyMergePatch(undefined, value));
  }
  return merged;
}
