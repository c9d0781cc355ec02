import type { Revision, Stored } from '../types.ts';
import type { PackedBytes, PackedStates } from './messages.ts';

const nothing = new Uint8Array(0);

/** Collects byte strings for a message. */
export class BytesPacker {
  readonly #parts: Uint8Array[] = [];
  readonly #ends: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(part: Uint8Array | null): void {
    if (part !== null) {
      this.#parts.push(part);
      this.#size += part.byteLength;
    }
    this.#ends.push(this.#size);
  }

  pack(): PackedBytes {
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return { ends: this.#ends, bytes };
  }
}

/** Collects states for a message. */
export class StatesPacker {
  readonly #revisions: Revision[] = [];
  readonly #createRevisions: Revision[] = [];
  readonly #values = new BytesPacker();

  get size(): number {
    return this.#values.size;
  }

  add(revision: Revision, createRevision: Revision, value: Uint8Array): void {
    this.#revisions.push(revision);
    this.#createRevisions.push(createRevision);
    this.#values.add(value);
  }

  addNone(): void {
    this.add(0, 0, nothing);
  }

  pack(): PackedStates {
    return {
      revisions: this.#revisions,
      createRevisions: this.#createRevisions,
      values: this.#values.pack(),
    };
  }
}

/** The bytes at `index`: a view, which keeps the whole batch alive. */
export function bytesAt(packed: PackedBytes, index: number): Uint8Array<ArrayBuffer> {
  return packed.bytes.subarray(index === 0 ? 0 : packed.ends[index - 1], packed.ends[index]);
}

/** The state at `index`, or null where there is none. */
export function stateAt(key: string, packed: PackedStates, index: number): Stored | null {
  const revision = packed.revisions[index] ?? 0;
  const createRevision = packed.createRevisions[index] ?? 0;
  if (createRevision === 0) return null;
  return { key, revision, createRevision, value: bytesAt(packed.values, index) };
}
