type Wanted<T> = { readonly [Part in keyof T]?: unknown } | ((seen: T) => boolean);

/** Whether something is what was asked for: nothing asked for is everything. */
export function matches<T extends object>(wanted: Wanted<T> | undefined, seen: T): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'function') return wanted(seen);
  const parts = new Map<string, unknown>(Object.entries(seen));
  return Object.entries(wanted).every(([part, value]) => isSame(value, parts.get(part)));
}

function isSame(wanted: unknown, found: unknown): boolean {
  if (wanted === undefined) return true;
  return wanted instanceof RegExp ? String(found).search(wanted) >= 0 : wanted === found;
}
