/*
 * Values as D-Bus writes them (its specification, "Marshaling"). Each is aligned to its own size, counted from the start of the
 * message. A signature names types in order: `s` text, `u` a number, `a` before a type an array of it, `(…)` a structure, `{…}` an
 * entry of a map, `v` a value with its own signature.
 */

export type BusValue = string | number | bigint | boolean | readonly BusValue[];

const alignments: Readonly<Record<string, number>> = {
  ...{ y: 1, g: 1, v: 1 },
  ...{ n: 2, q: 2 },
  ...{ b: 4, i: 4, u: 4, s: 4, o: 4, a: 4, h: 4 },
  ...{ x: 8, t: 8, d: 8, '(': 8, '{': 8 },
};

/** As D-Bus itself bounds them. */
const maxDepth = 64;
const maxSignature = 255;
/** Of one message: an array of empty structures would take no bytes of it. */
const maxValues = 100_000;

/** Splits a signature into the types that follow each other. Throws for one that is none. */
export function splitSignature(signature: string): string[] {
  if (signature.length > maxSignature) throw new Error('a signature is longer than D-Bus allows');
  const types: string[] = [];
  for (let at = 0; at < signature.length; ) {
    const end = endOfType(signature, at, 0);
    types.push(signature.slice(at, end));
    at = end;
  }
  return types;
}

const closing: Readonly<Record<string, string>> = { '(': ')', '{': '}' };

function endOfType(signature: string, at: number, depth: number): number {
  const code = signature.charAt(at);
  if (depth > maxDepth || alignments[code] === undefined)
    throw new Error(`${JSON.stringify(signature)} is no signature`);
  if (code === 'a') return endOfType(signature, at + 1, depth + 1);
  const close = closing[code];
  if (close === undefined) return at + 1;
  let next = at + 1;
  while (signature.charAt(next) !== close) next = endOfType(signature, next, depth + 1);
  if (next === at + 1) throw new Error(`${JSON.stringify(signature)} has an empty structure`);
  return next + 1;
}

/** Reads values; throws for what does not fit into the bytes. */
export class BusReader {
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;
  #at: number;
  #valuesLeft = maxValues;

  constructor(bytes: Buffer, isLittle: boolean, at = 0) {
    this.#bytes = bytes;
    this.#isLittle = isLittle;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** One value for each type of the signature. */
  readAll(signature: string, depth = 0): BusValue[] {
    return splitSignature(signature).map((type) => this.#read(type, depth));
  }

  align(size: number): void {
    this.#at = Math.ceil(this.#at / size) * size;
  }

  uint32(): number {
    const at = this.#take(4, 4);
    return this.#isLittle ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }

  #take(length: number, alignment: number): number {
    this.align(alignment);
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new Error('a message of D-Bus ends too early');
    this.#at += length;
    return at;
  }

  #read(type: string, depth: number): BusValue {
    this.#valuesLeft -= 1;
    if (depth > maxDepth || this.#valuesLeft < 0) throw new Error('a message of D-Bus has too many values');
    const code = type.charAt(0);
    if (code === 'a') return this.#array(type.slice(1), depth);
    if (code === '(' || code === '{') {
      this.align(8);
      return this.readAll(type.slice(1, -1), depth + 1);
    }
    if (code === 'v') return this.#variant(depth);
    return this.#basic(code);
  }

  #array(type: string, depth: number): BusValue[] {
    const length = this.uint32();
    this.align(alignments[type.charAt(0)] ?? 1);
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error('an array of D-Bus is longer than its message');
    const values: BusValue[] = [];
    while (this.#at < end) values.push(this.#read(type, depth + 1));
    if (this.#at !== end) throw new Error('an array of D-Bus does not end where it says');
    return values;
  }

  /** Its value alone. */
  #variant(depth: number): BusValue {
    const [value, ...others] = this.readAll(this.#text(this.#byte()), depth + 1);
    if (value === undefined || others.length > 0) throw new Error('a variant of D-Bus has not one value');
    return value;
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#take(1, 1));
  }

  /** With the NUL that follows it. */
  #text(length: number): string {
    const at = this.#take(length + 1, 1);
    return this.#bytes.toString('utf8', at, at + length);
  }

  #basic(code: string): BusValue {
    if (code === 's' || code === 'o') return this.#text(this.uint32());
    if (code === 'g') return this.#text(this.#byte());
    if (code === 'y') return this.#byte();
    if (code === 'u' || code === 'h') return this.uint32();
    if (code === 'i') return this.uint32() | 0;
    if (code === 'b') return this.uint32() !== 0;
    return this.#number(code);
  }

  #number(code: string): BusValue {
    const size = code === 'n' || code === 'q' ? 2 : 8;
    const at = this.#take(size, size);
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    const isLittle = this.#isLittle;
    if (code === 'n') return view.getInt16(at, isLittle);
    if (code === 'q') return view.getUint16(at, isLittle);
    if (code === 'x') return view.getBigInt64(at, isLittle);
    if (code === 't') return view.getBigUint64(at, isLittle);
    return view.getFloat64(at, isLittle);
  }
}

/** Writes the few types that are sent, in little-endian order. */
export class BusWriter {
  #parts: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  align(size: number): this {
    return this.raw(Buffer.alloc(Math.ceil(this.#length / size) * size - this.#length));
  }

  raw(bytes: Uint8Array): this {
    this.#parts.push(Buffer.from(bytes));
    this.#length += bytes.length;
    return this;
  }

  byte(value: number): this {
    return this.raw(Buffer.from([value]));
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return this.align(4).raw(bytes);
  }

  /** `s` and `o`. */
  text(value: string): this {
    const bytes = Buffer.from(value);
    return this.uint32(bytes.length).raw(bytes).byte(0);
  }

  signature(value: string): this {
    return this.byte(value.length).raw(Buffer.from(value)).byte(0);
  }

  /** A value of the type `s`, `o`, `i`, `u` or `b`. */
  value(type: string, value: BusValue): this {
    if ((type === 's' || type === 'o') && typeof value === 'string') return this.text(value);
    if ((type === 'i' || type === 'u') && typeof value === 'number') return this.uint32(value);
    if (type === 'b' && typeof value === 'boolean') return this.uint32(value ? 1 : 0);
    throw new Error(`a value of the type ${type} is not written to D-Bus`);
  }
}
