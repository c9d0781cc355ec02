import { findStringEnd, readKey } from '../json/index.ts';
import type { Field, Fields, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';

/*
 * JSON in which a key occurs more than once in its object, as a program in Go reads it into a struct: the second value is
 * read into what the first one has left. So objects and maps become the union of all, and lists are read item by item
 * into those before, as long as the last one; a scalar is the last one. null empties what can be absent in Go, and leaves
 * anything else as it is.
 */

/** Reads a text that JSON.parse accepts, within the limits of parseJson. */
export function readRepeated(type: Type, text: string): unknown {
  return new RepeatedKeysReader(text).read(type, undefined);
}

const quote = 0x22;

class RepeatedKeysReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the value that comes next; `before` is what an earlier occurrence has left. */
  read(type: Type | undefined, before: unknown, field?: Field): unknown {
    const known = type?.t === 'ref' ? type.resolve() : type;
    const sign = this.#peek();
    if (sign === '{' && known?.t === 'struct') return this.#struct(known.fields, before);
    if (sign === '{' && known?.t === 'map') return this.#map(known.of, before);
    if (sign === '[' && known?.t === 'list') return this.#list(known.of, before);
    const value: unknown = JSON.parse(this.#skip());
    return value === null && before !== undefined && !isNullable(known, field) ? before : value;
  }

  #struct(fields: Fields, before: unknown): Record<string, unknown> {
    const object: Record<string, unknown> = isRecord(before) ? before : {};
    this.#members((key) => {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const earlier = Object.hasOwn(object, key) ? object[key] : undefined;
      setMember(object, key, this.read(field?.type, earlier, field));
    });
    return object;
  }

  /** A member of a map is never read into an earlier one. */
  #map(of: Type, before: unknown): Record<string, unknown> {
    const object: Record<string, unknown> = isRecord(before) ? before : {};
    this.#members((key) => setMember(object, key, this.read(of, undefined)));
    return object;
  }

  #list(of: Type, before: unknown): unknown[] {
    const earlier: readonly unknown[] = Array.isArray(before) ? before : [];
    const items: unknown[] = [];
    this.#at++; // [
    while (this.#peek() !== ']') {
      items.push(this.read(of, earlier[items.length]));
      if (this.#peek() === ',') this.#at++;
    }
    this.#at++;
    return items;
  }

  #members(readMember: (key: string) => void): void {
    this.#at++; // {
    while (this.#peek() !== '}') {
      const end = findStringEnd(this.#text, this.#at);
      const key = readKey(this.#text, this.#at, end);
      this.#at = end + 1;
      this.#peek(); // the colon
      this.#at++;
      readMember(key);
      if (this.#peek() === ',') this.#at++;
    }
    this.#at++;
  }

  /** The next character that is no blank. */
  #peek(): string {
    while (' \n\r\t'.includes(this.#text.charAt(this.#at))) this.#at++;
    return this.#text.charAt(this.#at);
  }

  /** The text of the next value. */
  #skip(): string {
    const start = this.#at;
    let depth = 0;
    do {
      const sign = this.#peek();
      if (this.#text.charCodeAt(this.#at) === quote) this.#at = findStringEnd(this.#text, this.#at) + 1;
      else if (sign === '{' || sign === '[') [depth, this.#at] = [depth + 1, this.#at + 1];
      else if (sign === '}' || sign === ']') [depth, this.#at] = [depth - 1, this.#at + 1];
      else if (sign === ',' || sign === ':') this.#at++;
      else this.#word();
    } while (depth > 0);
    return this.#text.slice(start, this.#at);
  }

  /** A number, true, false or null. */
  #word(): void {
    while (/[-+.\w]/.test(this.#text.charAt(this.#at))) this.#at++;
  }
}

/** Whether Go has a null in this place: no scalar that is no pointer, and no struct that is always there. */
function isNullable(type: Type | undefined, field: Field | undefined): boolean {
  if (type === undefined || field === undefined) return true;
  if (type.t === 'struct') return !field.required && field.default === undefined;
  if (type.t === 'string' || type.t === 'bool' || type.t === 'double') return field.pointer === true;
  return type.t === 'int32' || type.t === 'int64' ? field.pointer === true : true;
}

/** Sets a key as JSON.parse does: `__proto__` is a key like any other. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
