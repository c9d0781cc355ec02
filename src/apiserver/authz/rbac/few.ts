/** Some things, of which there is mostly one: no collection is made for it then. Never empty. */
export type Few<T extends object> = T | Set<T>;

export function withOne<T extends object>(few: Few<T> | undefined, item: T): Few<T> {
  if (few === undefined) return item;
  return few instanceof Set ? few.add(item) : new Set([few, item]);
}

/** Undefined when nothing is left. */
export function withoutOne<T extends object>(few: Few<T> | undefined, item: T): Few<T> | undefined {
  if (!(few instanceof Set)) return few === item ? undefined : few;
  few.delete(item);
  return few.size === 0 ? undefined : few;
}

export function allOf<T extends object>(few: Few<T> | undefined): Iterable<T> {
  if (few === undefined) return [];
  return few instanceof Set ? few : [few];
}

export function firstOf<T extends object>(few: Few<T>): T {
  if (!(few instanceof Set)) return few;
  for (const item of few) return item;
  throw new Error('there must be one');
}
