import { isRecord } from '../../base/index.ts';

/** An escape that can be half of a character; without one, a text that is valid UTF-8 has whole characters only. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** Whether strings of this JSON text may have halves of characters. */
export function mayHaveHalves(text: string): boolean {
  return text.includes('\\u') && surrogateEscape.test(text);
}

/**
 * The value with U+FFFD for every half of a character, in texts and in keys, as the reference reads it: readers that are
 * strict refuse a text with one.
 */
export function withoutHalves(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(withoutHalves);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), withoutHalves(inner)]),
  );
}
