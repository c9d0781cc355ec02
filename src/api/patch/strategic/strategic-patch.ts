import type { StructType } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import { copyJson } from '../copy-json.ts';
import { Merge } from './merge.ts';
import { mergeObject } from './merge-object.ts';

/*
 * A strategic merge patch is the shape of the object with what shall change. It is merged as the description of the
 * type says: objects member by member, lists whose items have a key item by item, lists of scalars as sets where they
 * are said to merge; all else is replaced, and a null takes away. What that cannot say is said by directives, members
 * whose names begin with $; directives.ts lists them.
 *
 *   strategic-patch  the whole, copied from what went in
 *   merge-object     an object, member by member: reaches into lists, and is reached from items
 *   merge            one patch being merged: from items back to objects, and the bound of the work
 *   merge-list       which sort of list it is; scalar lists
 *   keyed-list       lists of objects with a key
 *   element-order    $setElementOrder, and the order of what was merged
 *   added            what a patch brings where the object has nothing
 *
 * What the reference does is the measure, order of items included, down to where it is an accident: where it answers
 * 500, depends on the order of a hash map, or takes one directive for another, this tells what is wrong instead.
 */

/**
 * Applies a strategic merge patch to an object of a type, as its description says lists are merged. Neither argument is
 * changed, and the result shares nothing with them. Fields that the description does not know are kept, for whoever
 * decodes the result to report: objects among them are merged, lists are replaced. Time grows with n log n, but for items
 * that the patch names several times, of which only so many are borne (merge.ts). Throws PatchError: `malformed` for what
 * no object could bear, `failed` for what this one cannot, the message names the place in the patch and shows no value;
 * and `tooLarge`.
 */
export function applyStrategicPatch(
  type: StructType,
  document: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const patched = copyJson(new Merge(mergeObject).object(type, document, patch, undefined));
  return isRecord(patched) ? patched : {};
}
