import { JsonError } from './error.ts';
import { describeFault } from './fault.ts';
import { isGarblingKey } from './garbling-key.ts';

/** Of other characters than quotes, which the keys in metadata.managedFields have. */
const otherEscape = /\\[^"]/;

/** The key between two quotes. Throws JsonError for one that cannot be, and for one that is not taken. */
export function keyAt(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end);
  if (!inner.includes('\\')) return inner;
  if (!otherEscape.test(inner)) return inner.replaceAll('\\"', '"');
  const key = unescaped(text.slice(start, end + 1));
  if (key === undefined) throw new JsonError(describeFault(text));
  if (isGarblingKey(key)) throw new JsonError('this server takes no keys with a backslash in them');
  return key;
}

/** Undefined for a bad escape. */
function unescaped(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}
