import type { ListType } from '../../schema/index.ts';
import type { MergedList } from './arrange.ts';
import { mergeKeyed } from './keyed-list.ts';
import type { Merge } from './merge.ts';
import type { Place } from './place.ts';
import { mergeScalars } from './scalar-list.ts';
import { sortOfItems } from './sort-of-items.ts';

/** A list with a patch of it merged in, as its description says; replaced where that says nothing. */
export function mergeList(
  type: ListType | undefined,
  live: readonly unknown[],
  patch: readonly unknown[],
  place: Place,
  merge: Merge,
): MergedList {
  if (!type?.patch?.merge) return { items: patch, liveOrder: live };
  if (live.length + patch.length === 0) return { items: live, liveOrder: live };
  merge.spend(live.length + patch.length);
  if (sortOfItems(live, patch, place) !== 'object' && type.patch.key === undefined)
    return mergeScalars(live, patch);
  return mergeKeyed(type, live, patch, place, merge);
}
