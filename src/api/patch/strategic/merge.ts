import type { ListType } from '../../schema/index.ts';
import { PatchError } from '../patch-error.ts';
import type { Described } from './described.ts';
import type { Place } from './place.ts';

type Members = Readonly<Record<string, unknown>>;

/** Merges a patch of an object into it. */
export type MergeObject = (
  type: Described,
  live: Members,
  patch: Members,
  place: Place,
  merge: Merge,
) => Members;

/** Members and items; a tenth of a second's work. Two ports of one number, merged once more each, are about ten. */
const repeatedLimit = 100_000;

/**
 * One patch being merged: leads back from items of lists to objects, and bounds the work. All of the object and of the
 * patch is merged once, but for items that a patch names several times: each time is another merge of the same item,
 * and of all lists in it that the patch reaches. A few bytes more of a patch could so cost thousands of items each.
 */
export class Merge {
  readonly #mergeObject: MergeObject;
  #repeating = 0;
  #repeated = 0;

  constructor(mergeObject: MergeObject) {
    this.#mergeObject = mergeObject;
  }

  object(type: Described, live: Members, patch: Members, place: Place): Members {
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

  /** To be told of so many members or items before they are merged. Throws PatchError when they are too many. */
  spend(count: number): void {
    if (this.#repeating === 0) return;
    this.#repeated += count;
    if (this.#repeated > repeatedLimit)
      throw new PatchError('tooLarge', 'the patch names the same items of long lists too often');
  }
}
