import { isRecord } from '../../schema/index.ts';
import type { Place } from './place.ts';
import { failed, malformed } from './place.ts';

type Sort = 'object' | 'string' | 'number' | 'boolean';

const shown: Readonly<Record<Sort, string>> = {
  object: 'an object',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
};

/** What the items of a list and of its patch are: all the same, or they cannot be merged. One of the two has items. */
export function sortOfItems(live: readonly unknown[], patch: readonly unknown[], place: Place): Sort {
  let ofPatch: Sort | undefined;
  for (const [index, item] of patch.entries()) {
    const at = { parent: place, step: index };
    const sort = sortOf(item, at);
    ofPatch ??= sort;
    if (sort !== ofPatch)
      throw malformed(at, `expected ${shown[ofPatch]} like the items before it, found ${shown[sort]}`);
  }
  let sort = ofPatch;
  for (const item of live) {
    const ofItem = sortOf(item, place);
    sort ??= ofItem;
    if (ofItem !== sort)
      throw failed(place, `${shown[sort]} cannot be merged into a list that has ${shown[ofItem]}`);
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
