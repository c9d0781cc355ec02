/** Enough for any object that people write; one with more is parsed. */
const maxParts = 4096;

/** Fields are written in this order: by the number of the message around them, or their own; then by their own. */
export function orderOf(number: number, inner: number): number {
  return number * innerNumbers + inner;
}

/** The number of the message around a field that JSON does not have; 0: none. */
export function withinOf(order: number): number {
  return order % innerNumbers === 0 ? 0 : Math.floor(order / innerNumbers);
}

/** Greater than the number of any field that has a message around it that JSON does not have. */
const innerNumbers = 2 ** 14;

/**
 * The fields of the messages that are being written, those of the outermost first, and the entries of maps: where each
 * begins, and by what it is ordered. Each ends where the next one begins. One for all conversions, none of which waits.
 */
export class Parts {
  readonly #orders = new Int32Array(maxParts);
  readonly #starts = new Int32Array(maxParts);
  /** For what is put into another order. */
  #spare = Buffer.alloc(0);
  count = 0;

  /** Beyond the limit nothing is kept, and `isFull` says so. */
  add(order: number, start: number): void {
    this.#orders[this.count] = order;
    this.#starts[this.count++] = start;
  }

  get isFull(): boolean {
    return this.count > maxParts;
  }

  order(index: number): number {
    return this.#orders[index] ?? 0;
  }

  start(index: number): number {
    return this.#starts[index] ?? 0;
  }

  /** Where the part begins, or `end` behind the last one. */
  startOr(index: number, end: number): number {
    return index < this.count ? this.start(index) : end;
  }

  spare(bytes: number): Buffer {
    if (this.#spare.length < bytes) this.#spare = Buffer.allocUnsafeSlow(Math.max(bytes, minSpareBytes));
    const spare = this.#spare;
    if (bytes > maxSpareBytes) this.#spare = Buffer.alloc(0);
    return spare;
  }
}

const minSpareBytes = 16 * 1024;
const maxSpareBytes = 256 * 1024;
