import { depthLimit } from '../../json/index.ts';

/** How much aliases may add to a document, in characters and values: the number of bytes that a body may have. */
const expansionLimit = 3 * 1024 * 1024;

/**
 * Copies the values of aliases. Each alias needs its own copy, because checking an object changes it in place. The total
 * size of all copies and their depth are bounded.
 */
export class AliasCopier {
  #left = expansionLimit;

  /** `depth` is the depth at which the copy is inserted. Returns the reason instead when a limit is exceeded. */
  copy(value: unknown, depth: number): { value: unknown } | { tooMuch: string } {
    try {
      return { value: this.#copy(value, depth) };
    } catch (error) {
      if (error instanceof TooMuchError) return { tooMuch: error.message };
      throw error;
    }
  }

  #copy(value: unknown, depth: number): unknown {
    this.#spend(typeof value === 'string' ? value.length : 1);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= depthLimit) throw new TooMuchError(`nested deeper than ${depthLimit} levels`);
    if (Array.isArray(value)) return value.map((item: unknown) => this.#copy(item, depth + 1));
    const entries = Object.entries(value).map(([key, inner]) => {
      this.#spend(key.length);
      return [key, this.#copy(inner, depth + 1)];
    });
    return Object.fromEntries(entries);
  }

  #spend(size: number): void {
    this.#left -= size + 1;
    if (this.#left < 0) throw new TooMuchError('the aliases stand for more than is accepted');
  }
}

class TooMuchError extends Error {}
