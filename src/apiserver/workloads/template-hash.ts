/** Of the names that the reference makes; they spell no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short text that stands for a value in names and labels: the same for the same fields in any order. `collisions`: how often
 * the name made of it was taken already.
 */
export function hashOf(value: unknown, collisions: number | undefined): string {
  const text = JSON.stringify(value, sortedKeys) + (collisions === undefined ? '' : `#${collisions}`);
  return [...String(fnv1a(text))].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
