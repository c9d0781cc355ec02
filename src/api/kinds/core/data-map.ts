import { isDeepStrictEqual } from 'node:util';
import { checkDataKey } from '../../names/index.ts';
import { causesOf, forbiddenValue, invalidUnless } from '../cause.ts';
import type { Cause } from '../kind.ts';

/*
 * What the kinds that hold named values share.
 */

/** The values of one object together have at most so many bytes. */
export const dataLimitBytes = 1024 * 1024;

/** What is wrong with the keys of a map of values that stands at `path`. */
export function dataKeyCauses(path: string, data: Readonly<Record<string, string>>): Cause[] {
  return causesOf(Object.keys(data), (key) => invalidUnless(`${path}[${key}]`, key, checkDataKey(key)));
}

/** The bytes of all values: of the text itself, or of what base64 text stands for. */
export function dataBytes(data: Readonly<Record<string, string>>, encoding: 'utf8' | 'base64'): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, encoding), 0);
}

/** What is wrong with a change to an object that says of itself that it is immutable. */
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
