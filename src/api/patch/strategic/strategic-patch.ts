import type { StructType } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import { copyJson } from '../copy-json.ts';
import { Merge } from './merge.ts';
import { mergeObject } from './merge-object.ts';

/*
 * A strategic merge patch has the shape of the object and contains the changes. It is merged as the description of the
 * type says: objects member by member, lists whose items have a key item by item, lists of scalars as sets where their
 * description says merge; all else is replaced, and a null removes. Everything further is expressed by directives,
 * members whose names begin with $; directives.ts lists them.
 *
 *   strategic-patch  the entry point; copies the result
 *   merge-object     an object, member by member: reaches into lists, and is reached from items
 *   merge            the merge of one patch: from items back to objects, and the bound of the work
 *   merge-list       chooses how a list is merged
 *   scalar-list      lists of scalars
 *   keyed-list       lists of objects with a key
 *   element-order    $setElementOrder, and the order of merged items
 *   build-added      the value that a patch adds where the object has none
 *
 * The result is that of the reference, order of items included, except where the reference behaves by accident: where it
 * answers 500, depends on the order of a hash map, or takes one directive for another, the patch is refused here.
 */

/**
 * Applies a strategic merge patch to an object of a type, merging lists as the description says. Neither argument is
 * changed, and the result shares nothing with them. Fields that the description does not have are kept, so that decoding
 * the result reports them: objects among them are merged, lists are replaced. The time is O(n log n), except for items
 * that the patch names several times, which are bounded (merge.ts). Throws PatchError: `malformed` when the patch is
 * invalid for every object, `failed` when it does not fit this one, and `tooLarge`. The message has the path in the patch
 * and never a value.
 */
export function applyStrategicPatch(
  type: StructType,
  document: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const patched = copyJson(new Merge(mergeObject).object(type, document, patch, undefined));
  return isRecord(patched) ? patched : {};
}
