import type { Located, LocatedMap } from './located.ts';
import { isNull, mapOf } from './located.ts';

/**
 * Puts one layer of configuration over another (specification 2.7, which is JSON Merge Patch, RFC 7386): scalars
 * and lists replace as a whole, maps are merged by key at every depth, null deletes. Each value keeps its origin.
 */
export function mergeLayers(base: LocatedMap, over: LocatedMap): LocatedMap {
  const entries = new Map(base.entries);
  for (const [key, entry] of over.entries) {
    if (isNull(entry.value)) entries.delete(key);
    else entries.set(key, { keyAt: entry.keyAt, value: mergeValue(entries.get(key)?.value, entry.value) });
  }
  return mapOf(entries, over.at);
}

function mergeValue(base: Located | undefined, over: Located): Located {
  if (over.type !== 'map') return over;
  return mergeLayers(base?.type === 'map' ? base : mapOf([], over.at), over);
}
