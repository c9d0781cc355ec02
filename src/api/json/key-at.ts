import { JsonError } from './error.ts';
import { describeFault } from './fault.ts';
import { isGarblingKey } from './garbling-key.ts';

/** Escapes other than those of quotes, which the keys in metadata.managedFields have. */
const otherEscape = /\\[^"]/;

/** Reads the key between two quotes. Throws JsonError for a malformed one, and for one that is not accepted. */
export function readKey(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end);
  if (!inner.includes('\\')) return inner;
  if (!otherEscape.test(inner)) return inner.replaceAll('\\"', '"');
  const key = unescapeKey(text.slice(start, end + 1));
  if (key === undefined) throw new JsonError(describeFault(text));
  if (isGarblingKey(key)) throw new JsonError('this server takes no keys with a backslash in them');
  return key;
}

/** Undefined for a bad escape. */
function unescapeKey(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal)).toWellFormed();
  } catch {
    return undefined;
  }
}
