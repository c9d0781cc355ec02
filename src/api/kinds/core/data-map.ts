import { isDeepStrictEqual } from 'node:util';
import { checkDataKey } from '../../names/index.ts';
import { causesOf, forbiddenValue, invalidUnless } from '../cause.ts';
import type { Cause } from '../kind.ts';

/*
 * The shared parts of the kinds with named values.
 */

/** How many bytes the values of one object have together. */
export const dataLimitBytes = 1024 * 1024;

/** The causes why the keys of a map of values at `path` are invalid. */
export function dataKeyCauses(path: string, data: Readonly<Record<string, string>>): Cause[] {
  return causesOf(Object.keys(data), (key) => invalidUnless(`${path}[${key}]`, key, checkDataKey(key)));
}

/** The total bytes of all values: of the text itself, or of the data that base64 text encodes. */
export function dataBytes(data: Readonly<Record<string, string>>, encoding: 'utf8' | 'base64'): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, encoding), 0);
}

/** The causes why a change of an object with `immutable: true` is refused. */
export function immutableCauses<T extends { immutable?: boolean }>(
  next: T,
  old: T | undefined,
  fields: readonly (keyof T & string)[],
): Cause[] {
  if (!old?.immutable) return [];
  const changed = fields.filter((name) => !isDeepStrictEqual(next[name] ?? {}, old[name] ?? {}));
  return [...(next.immutable ? [] : ['immutable']), ...changed].map((name) =>
    forbiddenValue(name, 'field is immutable when `immutable` is set'),
  );
}
