/*
 * The order of a merged list. Some items are named by the patch, in its own order; the others are only in the object.
 * Each of the two groups keeps its order. They are interleaved by the order in the object: before each item that the
 * patch names come those of the others that preceded it in the object. A new item comes as early as the patch's order
 * allows.
 *
 *   object a b x y   patch y c   gives a b x y c: a, b and x preceded y
 *   object a b x y   patch c y   gives c a b x y
 */

/** A list that was merged. */
export interface MergedList {
  items: readonly unknown[];
  /** The order in the object, by items, or by their keys where they have keys. */
  liveOrder: readonly unknown[];
}

/** For each item, or key, its position in a list: the first one if it occurs twice. */
export type Positions = ReadonlyMap<unknown, number>;

export function indexPositions(ids: readonly unknown[]): Positions {
  const positions = new Map<unknown, number>();
  ids.forEach((id, position) => {
    if (!positions.has(id)) positions.set(id, position);
  });
  return positions;
}

interface Placed<T> {
  item: T;
  /** The position in its own group. */
  order: number;
  live: number | undefined;
}

/** Puts items in order; `idOf` returns the item or key that the positions are indexed by. */
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
    // an item without any position comes last
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
