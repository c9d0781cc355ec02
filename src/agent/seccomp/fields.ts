import { isRecord } from '../../api/index.ts';
import { ExactNumber } from './exact-json.ts';
import type { Remarks } from './remarks.ts';
import { quote } from './remarks.ts';

/*
 * Reads fields as containerd's JSON decoder does, and adds a remark where the result differs from the file: null counts as
 * unset, and a wrong type is refused. The decoder also accepts field names that differ in case; other decoders do not.
 */

export const at = (path: string, step: string | number): string => {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
};

const fieldsLimit = 100;

/** Returns the fields of an object that are set; adds an error and returns undefined when it is no object. */
export function readObject(
  value: unknown,
  path: string,
  remarks: Remarks,
): Record<string, unknown> | undefined {
  if (!isRecord(value) || value instanceof ExactNumber) {
    remarks.error(path, `must be an object, not ${describeType(value)}`);
    return undefined;
  }
  const names = Object.keys(value).length;
  if (names > fieldsLimit) {
    remarks.error(path, `has ${names} fields, and may have ${fieldsLimit}`);
    return undefined;
  }
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

/** Adds a remark for each field that is not among `known`. */
export function warnUnknownFields(
  object: Record<string, unknown>,
  known: readonly string[],
  path: string,
  remarks: Remarks,
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    const meant = known.find((each) => foldCase(each) === foldCase(name));
    const where = at(path, formatName(name));
    if (meant !== undefined) {
      remarks.error(where, `must be written ${meant}: some runtimes take it for that, others ignore it`);
    } else {
      remarks.warn(where, 'is no field of a profile: runtimes ignore it');
    }
  }
}

/** Folds case as containerd's decoder does: `ſ` equals s, and the Kelvin sign equals k. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

/** Formats a field's name as part of a path. */
function formatName(name: string): string {
  return /^[\w.-]{1,60}$/.test(name) ? name : quote(name);
}

export function readText(value: unknown, path: string, remarks: Remarks): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  remarks.error(path, `must be a text, not ${describeType(value)}`);
  return undefined;
}

/** Returns an empty list when the field is unset, and adds an error when it is no list or has more than `limit` items. */
export function readList(value: unknown, path: string, limit: number, remarks: Remarks): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    remarks.error(path, `must be a list, not ${describeType(value)}`);
    return [];
  }
  if (value.length <= limit) return value;
  remarks.error(path, `has ${value.length} items, and may have ${limit}`);
  return [];
}

/** Returns the texts of a list; adds an error for each other item. */
export function readTexts(value: unknown, path: string, limit: number, remarks: Remarks): string[] {
  return readList(value, path, limit, remarks).flatMap((item, index) => {
    const text = item === undefined ? undefined : readText(item, at(path, index), remarks);
    return text === undefined ? [] : [text];
  });
}

/** Reads a whole number from 0 to `max`. */
export function readUnsigned(
  value: unknown,
  path: string,
  max: bigint,
  remarks: Remarks,
): bigint | undefined {
  if (value === undefined) return undefined;
  if (!(value instanceof ExactNumber)) {
    remarks.error(path, `must be a number, not ${describeType(value)}`);
    return undefined;
  }
  const found = value.unsigned;
  if (found !== undefined && found <= max) return found;
  remarks.error(path, `must be a whole number from 0 to ${max}, in digits, not ${quote(value.source)}`);
  return undefined;
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof ExactNumber) return 'a number';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'boolean' ? String(value) : 'an object';
}
