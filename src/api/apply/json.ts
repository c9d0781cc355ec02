import { isRecord } from '../schema/index.ts';

/** Whether two JSON values are equal, in whatever order their fields come. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b);
  return isRecord(a) && isRecord(b) && sameFields(a, b);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (!sameJson(a[index], b[index])) return false;
  }
  return true;
}

function sameFields(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let surplus = 0;
  for (const name in a) {
    if (a[name] === undefined) continue;
    if (!sameJson(a[name], own(b, name))) return false;
    surplus++;
  }
  for (const name in b) {
    if (b[name] !== undefined) surplus--;
  }
  return surplus === 0;
}

/**
 * A field of an object of JSON whose keys anybody may have chosen, `constructor` among them. What such an object inherits
 * are functions and `__proto__`; to ask only then is faster.
 */
export function own(record: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = record[name];
  const isInherited = typeof value === 'function' || name === '__proto__';
  return isInherited && !Object.hasOwn(record, name) ? undefined : value;
}

export function hasNoFields(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

/** A list; anything else is an empty one. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
