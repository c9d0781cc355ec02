import type { Cause } from './kind.ts';

/*
 * The causes of validation, worded as clients know them from the reference.
 */

/** More than the length of any valid value. */
const maxValueLength = 320;

function formatValue(value: unknown): string {
  const cut = typeof value === 'string' && value.length > maxValueLength;
  const text = JSON.stringify(cut ? `${value.slice(0, maxValueLength)}…` : value) ?? 'null';
  return text.length <= 2 * maxValueLength ? text : `${text.slice(0, 2 * maxValueLength)}…`;
}

export function invalidValue(field: string, value: unknown, detail: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${formatValue(value)}: ${detail}` };
}

/** Of a field whose value is left out of the message. */
export function invalidWhole(field: string, detail: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` };
}

export function requiredValue(field: string, detail?: string): Cause {
  const message = detail === undefined ? 'Required value' : `Required value: ${detail}`;
  return { reason: 'FieldValueRequired', field, message };
}

export function forbiddenValue(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

export function duplicateValue(field: string, value: unknown): Cause {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${formatValue(value)}` };
}

/** Lists the supported values in the order given. */
export function unsupportedValue(field: string, value: unknown, supported: readonly string[]): Cause {
  const values = supported.map((known) => JSON.stringify(known)).join(', ');
  const message = `Unsupported value: ${formatValue(value)}: supported values: ${values}`;
  return { reason: 'FieldValueNotSupported', field, message };
}

export function tooLongValue(field: string, limitBytes: number): Cause {
  const message = `Too long: may not be more than ${limitBytes} bytes`;
  return { reason: 'FieldValueTooLong', field, message };
}

export function tooManyItems(field: string, count: number, limit: number): Cause {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${count}: must have at most ${limit} items`,
  };
}

/** A reference to a name that does not exist. */
export function notFoundValue(field: string, value: unknown): Cause {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${formatValue(value)}` };
}

/** How many causes are reported for a list; a body of a million bad items needs no million causes. */
const causesLimit = 100;

/** Checks the items of a list or the entries of a map; returns the first hundred causes. */
export function causesOf<T>(
  items: Iterable<T> | undefined,
  check: (item: T, index: number) => readonly Cause[],
): Cause[] {
  const causes: Cause[] = [];
  let index = 0;
  for (const item of items ?? []) {
    causes.push(...check(item, index++));
    if (causes.length >= causesLimit) break;
  }
  return causes;
}

/** A cause with the result of a check; none when `wrong` is undefined. */
export function invalidUnless(field: string, value: unknown, wrong: string | undefined): Cause[] {
  return wrong === undefined ? [] : [invalidValue(field, value, wrong)];
}
