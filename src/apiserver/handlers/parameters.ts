import { StatusError } from '../../api/index.ts';

const trueTexts = ['1', 't', 'T', 'true', 'TRUE', 'True', ''];
const falseTexts = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** A boolean parameter; absent is undefined, present without a value is true. Throws 400 on anything else. */
export function parseOptionalBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (falseTexts.includes(text)) return false;
  if (trueTexts.includes(text)) return true;
  throw new StatusError(
    'BadRequest',
    `the parameter ${name} must be true or false, not ${JSON.stringify(text)}`,
  );
}

/** A boolean parameter; absent is false. Throws 400 on what is neither true nor false. */
export function parseBoolean(query: URLSearchParams, name: string): boolean {
  return parseOptionalBoolean(query, name) ?? false;
}

/** Whether a boolean parameter is given and not false. What is neither true nor false counts as true, for authorization. */
export function isAsked(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && !falseTexts.includes(text);
}

/** An integer parameter above 0; undefined for none, 0 and less, as in the reference. Throws 400 on anything else. */
export function parseCount(query: URLSearchParams, name: string): number | undefined {
  const value = parseSignedInteger(query, name) ?? 0;
  return value > 0 ? value : undefined;
}

/** An integer parameter, or undefined. Throws 400 on anything else. */
export function parseSignedInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^[+-]?\d{1,15}$/.test(text)) return Number(text);
  throw new StatusError(
    'BadRequest',
    `the parameter ${name} must be a whole number, not ${JSON.stringify(text)}`,
  );
}

/** A resourceVersion parameter, or undefined. Throws 400 when it cannot be a version of this server. */
export function parseVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new StatusError(
    'BadRequest',
    `Invalid value: ${JSON.stringify(text)}: resource version is none of this server`,
  );
}
