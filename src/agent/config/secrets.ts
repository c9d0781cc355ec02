import { isRecord } from '../../api/schema/index.ts';

/** What stands for a value that nobody is shown. */
export const redacted = 'REDACTED';

/** The headers may hold credentials. */
const secretFields = new Set(['staticPodURLHeader']);

/** A complaint about the field at `path` without what was found there. */
export function redactMessage(path: string, message: string): string {
  const isSecret = secretFields.has(path.split(/[.[]/, 1)[0] ?? '');
  return isSecret ? message.replace(/, found .*$/s, '') : message;
}

/** A value as it may be shown, by the keys that lead to it. A removed value stays removed. */
export function redact(steps: readonly string[], value: unknown): unknown {
  const isSecret = secretFields.has(steps[0] ?? '');
  return isSecret && value !== null && value !== undefined ? hide(value) : value;
}

function hide(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [redacted];
  if (!isRecord(value)) return redacted;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]));
}
