import { isRecord } from '../../api/index.ts';
import { ExactNumber } from './exact-json.ts';
import type { Remarks } from './remarks.ts';
import { quoted } from './remarks.ts';

/*
 * Reads fields as containerd's JSON decoder does, and tells where that is not what the file says: null counts as unset, and
 * what has the wrong type is refused. The decoder also takes fields whose names differ in case, and others do not.
 */

export const at = (path: string, step: string | number): string => {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
};

const fieldsLimit = 100;

/** An object with the fields that are set; undefined, and told, for what is none. */
export function readObject(
  value: unknown,
  path: string,
  remarks: Remarks,
): Record<string, unknown> | undefined {
  if (!isRecord(value) || value instanceof ExactNumber) {
    remarks.error(path, `must be an object, not ${kindOf(value)}`);
    return undefined;
  }
  const names = Object.keys(value).length;
  if (names > fieldsLimit) {
    remarks.error(path, `has ${names} fields, and may have ${fieldsLimit}`);
    return undefined;
  }
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

/** Tells the fields that are not among `known`. */
export function tellUnknown(
  object: Record<string, unknown>,
  known: readonly string[],
  path: string,
  remarks: Remarks,
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    const meant = known.find((each) => folded(each) === folded(name));
    const where = at(path, shortName(name));
    if (meant !== undefined) {
      remarks.error(where, `must be written ${meant}: some runtimes take it for that, others ignore it`);
    } else {
      remarks.warn(where, 'is no field of a profile: runtimes ignore it');
    }
  }
}

/** As containerd's decoder compares names: to it `ſ` is an s, and the sign of Kelvin a k. */
const folded = (name: string): string => name.toUpperCase().toLowerCase();

/** A name of the file in a path. */
function shortName(name: string): string {
  return /^[\w.-]{1,60}$/.test(name) ? name : quoted(name);
}

export function readText(value: unknown, path: string, remarks: Remarks): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  remarks.error(path, `must be a text, not ${kindOf(value)}`);
  return undefined;
}

/** An empty list where none is stated, or what is stated is wrong or has more than `limit` items. */
export function readList(value: unknown, path: string, limit: number, remarks: Remarks): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    remarks.error(path, `must be a list, not ${kindOf(value)}`);
    return [];
  }
  if (value.length <= limit) return value;
  remarks.error(path, `has ${value.length} items, and may have ${limit}`);
  return [];
}

/** The texts in a list; others are told. */
export function readTexts(value: unknown, path: string, limit: number, remarks: Remarks): string[] {
  return readList(value, path, limit, remarks).flatMap((item, index) => {
    const text = item === undefined ? undefined : readText(item, at(path, index), remarks);
    return text === undefined ? [] : [text];
  });
}

/** A whole number from 0 to `most`. */
export function readUnsigned(
  value: unknown,
  path: string,
  most: bigint,
  remarks: Remarks,
): bigint | undefined {
  if (value === undefined) return undefined;
  if (!(value instanceof ExactNumber)) {
    remarks.error(path, `must be a number, not ${kindOf(value)}`);
    return undefined;
  }
  const found = value.unsigned;
  if (found !== undefined && found <= most) return found;
  remarks.error(path, `must be a whole number from 0 to ${most}, in digits, not ${quoted(value.source)}`);
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof ExactNumber) return 'a number';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'boolean' ? String(value) : 'an object';
}
