import { depthLimit } from '../json/index.ts';
import { isRecord } from '../schema/index.ts';
import { PatchError } from './patch-error.ts';
import { setOwn } from './set-own.ts';

/** Copies values, up to a total number of bytes of JSON. */
export class JsonCopier {
  #left: number;
  readonly #tooMuch: string;

  constructor(limitBytes: number, tooMuch: string) {
    this.#left = limitBytes;
    this.#tooMuch = tooMuch;
  }

  /** `depth` is the depth at which the copy is inserted. Throws PatchError when the copy is too deep or too large. */
  copy(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) {
      this.#spend(typeof value === 'string' ? value.length + 2 : 4);
      return value;
    }
    if (depth >= depthLimit) throw tooDeep();
    this.#spend(2);
    if (Array.isArray(value)) return value.map((item: unknown) => this.copy(item, depth + 1));
    const copy: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      this.#spend(key.length + 4);
      setOwn(copy, key, this.copy(inner, depth + 1));
    }
    return copy;
  }

  /** Counts slightly less than the length of the JSON text: escapes and commas of lists are left out. */
  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new PatchError('tooLarge', this.#tooMuch);
  }
}

/** A copy that shares nothing with the value; `depth` as above. Throws PatchError when it is too deep. */
export function copyJson(value: unknown, depth = 0): unknown {
  return new JsonCopier(Number.POSITIVE_INFINITY, '').copy(value, depth);
}

/** Throws PatchError when a value is nested deeper than a body may be. */
export function checkDepth(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth >= depthLimit) throw tooDeep();
  const items: readonly unknown[] = Array.isArray(value)
    ? value
    : isRecord(value)
      ? Object.values(value)
      : [];
  for (const item of items) checkDepth(item, depth + 1);
}

function tooDeep(): PatchError {
  return new PatchError('tooLarge', `nested deeper than ${depthLimit} levels`);
}
