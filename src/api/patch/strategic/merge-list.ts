import type { ListType } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import type { MergedList } from './arrange.ts';
import { mergeKeyed } from './keyed-list.ts';
import type { Merge } from './merge.ts';
import type { Place } from './place.ts';
import { failed, malformed } from './place.ts';
import { mergeScalars } from './scalar-list.ts';

/** Merges a patch of a list into it, as its description says; a list without merge behaviour is replaced. */
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
  if (checkItems(live, patch, place) !== 'object' && type.patch.key === undefined)
    return mergeScalars(live, patch);
  return mergeKeyed(type, live, patch, place, merge);
}

type Sort = 'object' | 'string' | 'number' | 'boolean';

const sortNames: Readonly<Record<Sort, string>> = {
  object: 'an object',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
};

/** The sort of the items of a list and of its patch, one of which has items. Throws unless all are of one sort. */
function checkItems(live: readonly unknown[], patch: readonly unknown[], place: Place): Sort {
  let ofPatch: Sort | undefined;
  for (const [index, item] of patch.entries()) {
    const at = { parent: place, step: index };
    const sort = sortOf(item, at);
    ofPatch ??= sort;
    if (sort !== ofPatch)
      throw malformed(
        at,
        `expected ${sortNames[ofPatch]} like the items before it, found ${sortNames[sort]}`,
      );
  }
  let sort = ofPatch;
  for (const item of live) {
    const ofItem = sortOf(item, place);
    sort ??= ofItem;
    if (ofItem !== sort)
      throw failed(place, `${sortNames[sort]} cannot be merged into a list that has ${sortNames[ofItem]}`);
  }
  return sort ?? 'object';
}

function sortOf(item: unknown, place: Place): Sort {
  if (Array.isArray(item)) throw failed(place, 'lists of lists cannot be merged');
  if (isRecord(item)) return 'object';
  if (typeof item === 'string') return 'string';
  if (typeof item === 'number') return 'number';
  if (typeof item === 'boolean') return 'boolean';
  throw malformed(place, 'a list that is merged holds no null');
}
