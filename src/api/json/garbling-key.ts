/**
 * Whether a key makes V8 misread keys of other texts (see parseJson): it holds a backslash. Not where a quote comes
 * first, as in the keys of metadata.managedFields for items of lists, `k:{"mountPath":"/a\"b"}`: in the place of that
 * quote no key of another text is the same, for a quote would end it.
 */
export function isGarblingKey(key: string): boolean {
  const backslash = key.indexOf('\\');
  if (backslash < 0) return false;
  const quote = key.indexOf('"');
  return quote < 0 || quote > backslash;
}
