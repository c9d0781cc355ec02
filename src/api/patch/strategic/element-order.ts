import type { ListType } from '../../schema/index.ts';
import { isRecord, typeNameOf } from '../../schema/index.ts';
import type { MergedList } from './arrange.ts';
import { arrange, indexPositions } from './arrange.ts';
import { buildAddedItems } from './build-added.ts';
import { expectList, readMarker } from './directives.ts';
import { keyInObject, keyInPatch } from './keys.ts';
import type { MaybeType } from './member-type.ts';
import { asList } from './member-type.ts';
import type { Merge } from './merge.ts';
import { mergeList } from './merge-list.ts';
import type { Place } from './place.ts';
import { failed, malformed } from './place.ts';
import { isScalar } from './scalar-list.ts';

/** A list in the object and in its patch; undefined where there is none. */
export interface BothLists {
  live: unknown;
  patch: unknown;
  /** The position in the patch. */
  place: Place;
}

/**
 * Merges a list for which the patch gives the order of the items, and arranges them: the named items in that order, with
 * the others between them (arrange.ts). Undefined when neither the object nor the patch has the list.
 */
export function orderList(
  described: MaybeType,
  { live, patch, place }: BothLists,
  order: { items: readonly unknown[]; place: Place },
  merge: Merge,
): readonly unknown[] | undefined {
  const type = asList(described);
  if (type === undefined) throw malformed(order.place, 'no list has this name');
  merge.spend(order.items.length + (Array.isArray(live) ? live.length : 0));
  const wanted = order.items.map((item, index) =>
    idInPatch(type, item, { parent: order.place, step: index }),
  );
  const change = patch === undefined ? undefined : expectList(patch, place);
  if (change !== undefined) checkNamed(type, change, wanted, place);
  const merged = mergeBoth(type, live ?? undefined, change, place, merge);
  return merged && arrangeItems(type, merged, wanted, place);
}

function mergeBoth(
  type: ListType,
  live: unknown,
  patch: readonly unknown[] | undefined,
  place: Place,
  merge: Merge,
): MergedList | undefined {
  if (live === undefined)
    return patch && { items: buildAddedItems(patch, place, 'keep nulls'), liveOrder: [] };
  if (!Array.isArray(live)) throw failed(place, `a list cannot be merged with ${typeNameOf(live)}`);
  if (patch !== undefined) return mergeList(type, live, patch, place, merge);
  return { items: live, liveOrder: live.map((item) => idInObject(type, item, place)) };
}

function arrangeItems(
  type: ListType,
  { items, liveOrder }: MergedList,
  wanted: readonly unknown[],
  place: Place,
): unknown[] {
  const entries = items.map((item) => ({ item, id: idInObject(type, item, place) }));
  const arranged = arrange(entries, ({ id }) => id, indexPositions(wanted), indexPositions(liveOrder));
  return arranged.map(({ item }) => item);
}

/** Throws unless the order names each item that the patch adds or changes, in the order of the patch. */
function checkNamed(
  type: ListType,
  patch: readonly unknown[],
  wanted: readonly unknown[],
  place: Place,
): void {
  const items = [...patch.entries()].flatMap(([index, item]) => {
    const at = { parent: place, step: index };
    if (isRecord(item) && readMarker(item, at) !== undefined) return [];
    return [{ id: idInPatch(type, item, at), place: at }];
  });
  // an empty order has no effect
  if (wanted.length === 0) return;
  let next = 0;
  for (const id of wanted) if (items[next]?.id === id) next++;
  const missed = items[next];
  if (missed !== undefined)
    throw malformed(missed.place, 'missing in $setElementOrder, or in another order there');
}

/** The identity of an item: its key, or the item itself if it is a scalar. */
function idInPatch(type: ListType, item: unknown, place: Place): unknown {
  if (type.patch?.key !== undefined) return keyInPatch(type, item, place);
  if (isScalar(item)) return item;
  throw malformed(place, `only scalars can be put in order here, found ${typeNameOf(item)}`);
}

function idInObject(type: ListType, item: unknown, place: Place): unknown {
  if (type.patch?.key !== undefined) return keyInObject(type, item, place);
  if (isScalar(item)) return item;
  throw failed(place, `only scalars can be put in order here, the object has ${typeNameOf(item)}`);
}
