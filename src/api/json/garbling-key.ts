/**
 * Whether a key makes V8 misread keys of other texts (see parseJson): it has a backslash. A key in which a quote comes
 * before the backslash is harmless, as in the keys of metadata.managedFields for items of lists,
 * `k:{"mountPath":"/a\"b"}`: the source of no other key matches up to that quote, which would end the key there.
 */
export function isGarblingKey(key: string): boolean {
  const backslash = key.indexOf('\\');
  if (backslash < 0) return false;
  const quote = key.indexOf('"');
  return quote < 0 || quote > backslash;
}
