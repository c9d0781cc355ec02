import { compareKeys } from '../key-order.ts';
import type { Stored } from '../types.ts';
import { StorageError } from '../types.ts';

/** A key of one store or both, with its state in each. */
export interface Pair {
  readonly key: string;
  readonly wanted: Stored | undefined;
  readonly there: Stored | undefined;
}

type Objects = AsyncIterable<Stored> | Iterable<Stored>;

/** Every key of two stores, in order, holding only one object of each at a time. Throws when a store is not in order. */
export async function* pairs(wanted: Objects, there: Objects): AsyncGenerator<Pair, void, undefined> {
  await using left = new Cursor(wanted);
  await using right = new Cursor(there);
  let [a, b] = [await left.next(), await right.next()];
  while (a !== undefined || b !== undefined) {
    const order = a === undefined ? 1 : b === undefined ? -1 : compareKeys(a.key, b.key);
    const key = (order <= 0 ? a?.key : b?.key) ?? '';
    yield { key, wanted: order <= 0 ? a : undefined, there: order >= 0 ? b : undefined };
    if (order <= 0) a = await left.next();
    if (order >= 0) b = await right.next();
  }
}

class Cursor implements AsyncDisposable {
  readonly #iterator: AsyncIterator<Stored> | Iterator<Stored>;
  #last: string | undefined;

  constructor(objects: Objects) {
    this.#iterator =
      Symbol.asyncIterator in objects ? objects[Symbol.asyncIterator]() : objects[Symbol.iterator]();
  }

  async next(): Promise<Stored | undefined> {
    const { done, value } = await this.#iterator.next();
    if (done) return undefined;
    if (this.#last !== undefined && compareKeys(this.#last, value.key) >= 0) {
      throw new StorageError(
        'corrupt',
        `a store gave its objects out of order: ${value.key} after ${this.#last}`,
      );
    }
    this.#last = value.key;
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#iterator.return?.();
  }
}

export function sameValue(a: Stored, b: Stored): boolean {
  return Buffer.compare(a.value, b.value) === 0;
}
