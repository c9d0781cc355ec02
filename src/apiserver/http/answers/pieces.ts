import type { WriteInto } from '../../../api/index.ts';

/** Large enough that the cost of a write does not matter. */
const pieceBytes = 256 * 1024;

/** Bytes that are written one thing after another, in pieces, so that they need not be moved when there are more. */
export class Pieces {
  readonly #full: Buffer[] = [];
  readonly #size: number;
  #piece: Buffer;
  #end = 0;
  #length = 0;

  /** `size`: of a piece, unless one thing needs more. */
  constructor(size = pieceBytes) {
    this.#size = size;
    this.#piece = Buffer.allocUnsafeSlow(size);
  }

  /** Of all that was added. */
  get length(): number {
    return this.#length;
  }

  /** Adds what `write` writes, which is called again with more room until it fits. `expected`: how much it may be. */
  add(expected: number, write: WriteInto): void {
    if (this.#end + expected > this.#piece.length) this.#next(expected);
    const from = this.#end;
    let end = write(this.#piece, from);
    for (let room = 2 * expected; end > this.#piece.length; room *= 2) {
      this.#next(room);
      end = write(this.#piece, 0);
    }
    this.#length += end - this.#end;
    this.#end = end;
  }

  /** The pieces, none of them empty. To be called once. */
  finish(): readonly Buffer[] {
    if (this.#end > 0) this.#full.push(this.#piece.subarray(0, this.#end));
    return this.#full;
  }

  #next(least: number): void {
    if (this.#end > 0) this.#full.push(this.#piece.subarray(0, this.#end));
    this.#piece = Buffer.allocUnsafeSlow(Math.max(this.#size, least));
    this.#end = 0;
  }
}
