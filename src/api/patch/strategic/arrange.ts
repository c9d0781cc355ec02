/*
 * The order of a merged list. Some of its items the patch names, in an order of its own; the others only the object
 * has. Each of the two groups keeps its order. How they are laid into each other is told by the order that the object
 * had: before each item that the patch names come those of the others that stood before it there; an item that is new
 * stands as early as the patch's order allows.
 *
 *   object a b x y   patch y c   gives a b x y c: a, b and x stood before y
 *   object a b x y   patch c y   gives c a b x y
 */

/** A list that was merged. */
export interface MergedList {
  items: readonly unknown[];
  /** The order that the object is taken to have had, by items, or by their keys where they have such. */
  liveOrder: readonly unknown[];
}

/** For each item, or key, its place in a list: the first if it stands there twice. */
export type Positions = ReadonlyMap<unknown, number>;

export function positionsIn(ids: readonly unknown[]): Positions {
  const positions = new Map<unknown, number>();
  ids.forEach((id, position) => {
    if (!positions.has(id)) positions.set(id, position);
  });
  return positions;
}

interface Placed<T> {
  item: T;
  /** Where it stands in its own group. */
  order: number;
  live: number | undefined;
}

/** Puts items in order; `idOf` gives what the positions are of. */
export function arrange<T>(
  items: readonly T[],
  idOf: (item: T) => unknown,
  named: Positions,
  live: Positions,
): T[] {
  const first: Placed<T>[] = [];
  const others: Placed<T>[] = [];
  for (const item of items) {
    const id = idOf(item);
    const ofPatch = named.get(id);
    const ofObject = live.get(id);
    // what stands nowhere comes last
    const placed = { item, order: ofPatch ?? ofObject ?? live.size, live: ofObject };
    (ofPatch === undefined ? others : first).push(placed);
  }
  return interleave(others.sort(byOrder), first.sort(byOrder));
}

function byOrder(one: Placed<unknown>, other: Placed<unknown>): number {
  return one.order - other.order;
}

function interleave<T>(others: readonly Placed<T>[], named: readonly Placed<T>[]): T[] {
  const all: T[] = [];
  let next = 0;
  for (const { item, live: limit } of named) {
    for (let other = others[next]; other !== undefined; other = others[next]) {
      if (limit === undefined || other.live === undefined || other.live >= limit) break;
      all.push(other.item);
      next++;
    }
    all.push(item);
  }
  for (const { item } of others.slice(next)) all.push(item);
  return all;
}
