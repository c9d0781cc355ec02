import type { ListType } from '../../schema/index.ts';
import { PatchError } from '../patch-error.ts';
import type { MaybeType } from './member-type.ts';
import type { Place } from './place.ts';

type Members = Readonly<Record<string, unknown>>;

/** Merges a patch of an object into it. */
export type MergeObject = (
  type: MaybeType,
  live: Members,
  patch: Members,
  place: Place,
  merge: Merge,
) => Members;

/** Members and items; a tenth of a second's work. Two ports of one number, each merged once more, count about ten. */
const repeatedLimit = 100_000;

/**
 * The merge of one patch: leads back from items of lists to objects, and bounds the work. All of the object and of the
 * patch is merged once, except for items that a patch names several times: each time merges the same item again, and all
 * lists in it that the patch reaches. So a few more bytes of a patch could cost the merge of thousands of items.
 */
export class Merge {
  readonly #mergeObject: MergeObject;
  #repeating = 0;
  #repeated = 0;

  constructor(mergeObject: MergeObject) {
    this.#mergeObject = mergeObject;
  }

  object(type: MaybeType, live: Members, patch: Members, place: Place): Members {
    return this.#mergeObject(type, live, patch, place, this);
  }

  item({ of }: ListType, live: Members, patch: Members, place: Place): Members {
    return this.object(of, live, patch, place);
  }

  /** As `item`, for an item that this patch has merged or added already. */
  itemAgain(type: ListType, live: Members, patch: Members, place: Place): Members {
    this.#repeating++;
    const merged = this.item(type, live, patch, place);
    this.#repeating--;
    return merged;
  }

  /** Counts members or items before they are merged. Throws PatchError when too many are merged repeatedly. */
  spend(count: number): void {
    if (this.#repeating === 0) return;
    this.#repeated += count;
    if (this.#repeated > repeatedLimit)
      throw new PatchError('tooLarge', 'the patch names the same items of long lists too often');
  }
}
