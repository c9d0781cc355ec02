import { canonicalQuantity } from './quantity.ts';
import type { Scalar } from './types.ts';

export interface Rule {
  /** The expected form, for a message. */
  expected: string;
  /** The value, or its canonical form; undefined when it is of another type. */
  read(value: unknown): unknown;
}

const rules: Readonly<Record<Scalar, Rule>> = {
  string: createTextRule('a string', (text) => text),
  bool: createRule('true or false', (value) => typeof value === 'boolean'),
  int32: createRule('a 32-bit integer', isInt32),
  int64: createRule('an integer between ±2^53', (value) => Number.isSafeInteger(value)),
  double: createRule('a number', (value) => Number.isFinite(value)),
  bytes: createTextRule('base64 text', readBase64),
  time: createTextRule('an RFC 3339 time', (text) => readTime(text, 0)),
  microTime: createTextRule('an RFC 3339 time', (text) => readTime(text, 6)),
  duration: createTextRule('a duration such as 1m30s', (text) =>
    durationText.test(text) ? text : undefined,
  ),
  quantity: { expected: 'a quantity such as 500m or 16Gi', read: readQuantity },
  intOrString: createRule(
    'a 32-bit integer or a string',
    (value) => typeof value === 'string' || isInt32(value),
  ),
  fieldsV1: createRule(
    'an object',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
  raw: { expected: 'any value', read: (value) => value },
};

/**
 * The rule that reads a scalar's JSON value. Times are converted to UTC with the digits that clients can parse, quantities
 * to canonical text, and base64 loses its line breaks.
 */
export function scalarRule(scalar: Scalar): Rule {
  return rules[scalar];
}

function createRule(expected: string, accepts: (value: unknown) => boolean): Rule {
  return { expected, read: (value) => (accepts(value) ? value : undefined) };
}

function createTextRule(expected: string, read: (text: string) => string | undefined): Rule {
  return { expected, read: (value) => (typeof value === 'string' ? read(value) : undefined) };
}

function isInt32(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31;
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function readBase64(text: string): string | undefined {
  const joined = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]/g, '') : text;
  return joined.length % 4 === 0 && base64.test(joined) ? joined : undefined;
}

const durationText = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;

function readQuantity(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' ? canonicalQuantity(text) : undefined;
}

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** A time in canonical form, on a day that every month has: heartbeats send these, so the check must be cheap. */
const plainDay = '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
const plainTime = { 0: new RegExp(`${plainDay}Z$`), 6: new RegExp(`${plainDay}\\.\\d{6}Z$`) };

/** Converts to UTC with this number of digits of a second; further ones are cut off. */
function readTime(text: string, digits: 0 | 6): string | undefined {
  if (plainTime[digits].test(text)) return text;
  const [, local = '', fraction = '', zone = ''] = rfc3339.exec(text) ?? [];
  if (local === '' || !isOnCalendar(local)) return undefined;
  const end = digits === 0 ? 'Z' : `.${fraction.padEnd(digits, '0').slice(0, digits)}Z`;
  if (zone === 'Z') return `${local}${end}`;
  const [, sign = '', hours = '', minutes = ''] = /(.)(\d\d):(\d\d)/.exec(zone) ?? [];
  if (Number(hours) > 24 || Number(minutes) > 60) return undefined; // as in Go: some write 24 hours and 60 minutes
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const utc = new Date(Date.parse(`${local}Z`) - offsetMs).toISOString().slice(0, 19);
  return rfc3339.test(`${utc}Z`) ? `${utc}${end}` : undefined;
}

/** Whether date and hour exist: Date.parse alone accepts the 30th of February and hour 24. */
function isOnCalendar(local: string): boolean {
  const instant = Date.parse(`${local}Z`);
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(local);
}
