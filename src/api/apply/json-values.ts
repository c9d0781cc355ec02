import { isRecord } from '../schema/index.ts';

/** Whether two JSON values are equal; the order of fields does not count. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && isSameList(a, b);
  return isRecord(a) && isRecord(b) && isSameRecord(a, b);
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (!isSameJson(a[index], b[index])) return false;
  }
  return true;
}

function isSameRecord(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let surplus = 0;
  for (const name in a) {
    if (a[name] === undefined) continue;
    if (!isSameJson(a[name], getOwn(b, name))) return false;
    surplus++;
  }
  for (const name in b) {
    if (b[name] !== undefined) surplus--;
  }
  return surplus === 0;
}

/**
 * An own field of a JSON object whose keys a client has chosen, `constructor` for example. Such an object inherits only
 * functions and `__proto__`, so `Object.hasOwn` is asked only for those: that is faster.
 */
export function getOwn(record: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = record[name];
  const isInherited = typeof value === 'function' || name === '__proto__';
  return isInherited && !Object.hasOwn(record, name) ? undefined : value;
}

export function hasNoFields(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

/** The list; an empty one for anything else. */
export function toItems(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
