/** A set that is never empty and mostly has one item, which is then kept without a collection. */
export type CompactSet<T extends object> = T | Set<T>;

export function addItem<T extends object>(set: CompactSet<T> | undefined, item: T): CompactSet<T> {
  if (set === undefined) return item;
  return set instanceof Set ? set.add(item) : new Set([set, item]);
}

/** Returns undefined when no item is left. */
export function removeItem<T extends object>(
  set: CompactSet<T> | undefined,
  item: T,
): CompactSet<T> | undefined {
  if (!(set instanceof Set)) return set === item ? undefined : set;
  set.delete(item);
  return set.size === 0 ? undefined : set;
}

export function itemsOf<T extends object>(set: CompactSet<T> | undefined): Iterable<T> {
  if (set === undefined) return [];
  return set instanceof Set ? set : [set];
}

export function getFirst<T extends object>(set: CompactSet<T>): T {
  if (!(set instanceof Set)) return set;
  for (const item of set) return item;
  throw new Error('there must be one');
}
