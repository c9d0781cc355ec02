import { backslash, colon, quote, takeByte, unusual } from '../../../json/index.ts';
import type { Conversion } from './conversion.ts';
import type { CopyValue } from './scalars.ts';

/** A field of a message. */
export interface FieldCopier {
  /** With the quotes and the colon that JSON has around it. */
  readonly key: Buffer;
  /** Made by `orderOf`. */
  readonly order: number;
  /** Copies the value with its tag. */
  readonly copy: CopyValue;
  /** The field that came after this one the last time: most objects of a kind have the same fields. */
  likelyNext: FieldCopier | undefined;
}

/** Finds fields by the bytes of their names. */
export class FieldTable {
  readonly #slots: (FieldCopier | undefined)[];
  readonly #mask: number;

  constructor(fields: readonly FieldCopier[]) {
    let size = 8;
    while (size < fields.length * 4) size *= 2;
    this.#slots = new Array<FieldCopier | undefined>(size).fill(undefined);
    this.#mask = size - 1;
    for (const field of fields) {
      let hash = 0;
      for (const byte of field.key.subarray(1, -2)) hash = nextHash(hash, byte);
      let slot = hash & this.#mask;
      while (this.#slots[slot] !== undefined) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = field;
    }
  }

  /** Reads a key with the colon behind it; undefined for the key of no field. `before`: the field before it. */
  take(conversion: Conversion, before: FieldCopier | undefined): FieldCopier | undefined {
    const likely = before?.likelyNext;
    if (likely !== undefined && isKeyAt(likely.key, conversion.json, conversion.at)) {
      conversion.at += likely.key.length;
      return likely;
    }
    const field = this.#find(conversion);
    if (before !== undefined && field !== undefined) before.likelyNext = field;
    return field;
  }

  #find(conversion: Conversion): FieldCopier | undefined {
    const { json, at: start } = conversion;
    takeByte(conversion, quote);
    let hash = 0;
    let { at } = conversion;
    for (; ; at++) {
      const byte = json[at];
      if (byte === quote) break;
      if (byte === undefined || byte === backslash) throw unusual(conversion);
      hash = nextHash(hash, byte);
    }
    conversion.at = at + 1;
    takeByte(conversion, colon);
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const field = this.#slots[slot];
      if (field === undefined || isKeyAt(field.key, json, start)) return field;
    }
  }
}

function nextHash(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

function isKeyAt(key: Buffer, json: Uint8Array, at: number): boolean {
  for (let offset = 0; offset < key.length; offset++) {
    if (key[offset] !== json[at + offset]) return false;
  }
  return true;
}
