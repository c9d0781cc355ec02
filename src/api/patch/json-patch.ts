import { isRecord } from '../schema/index.ts';
import { checkDepth, copyJson, JsonCopier } from './copy-json.ts';
import type { Operation } from './json-patch-operations.ts';
import { readOperations } from './json-patch-operations.ts';
import type { Pointer } from './json-pointer.ts';
import { formatPointer, isBelow, parseIndex } from './json-pointer.ts';
import { PatchError } from './patch-error.ts';
import { setOwn } from './set-own.ts';

/*
 * The document is copied first and then changed in place: a patch that fails half-way has no effect, and the result shares
 * nothing with the arguments. Ten thousand harmless-looking operations can cost a server all its time or memory, so
 * their cost is bounded too: the bytes that copies add, the depth, and the number of list items moved to make room.
 * Messages have paths and types, but never a value: it may be a secret.
 */

/** The number of bytes that a body may have. */
const copyLimitBytes = 3 * 1024 * 1024;
/** A fifth of a second's work; ten thousand insertions at the front of a list of ten thousand. */
const shiftLimit = 100_000_000;

/**
 * Applies a JSON Patch (RFC 6902). Neither argument is changed, and the result shares nothing with them. Throws
 * PatchError, which names the operation by its index from 0, its op and its path.
 *
 * As in the reference, and unlike the RFC, `test` treats an absent member as null.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = readOperations(patch);
  const patched = new PatchedDocument(document);
  for (const [index, operation] of operations.entries()) patched.apply(operation, index);
  return patched.result();
}

type Container = unknown[] | Record<string, unknown>;

class PatchedDocument {
  /** The document as a member of an object, so that the root can be replaced. */
  readonly #root: { document: unknown };
  readonly #copier = new JsonCopier(copyLimitBytes, `copies add more than ${copyLimitBytes} bytes`);
  #shifted = 0;
  #deepened = false;

  constructor(document: unknown) {
    this.#root = { document: copyJson(document) };
  }

  apply(operation: Operation, index: number): void {
    try {
      this.#apply(operation);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      const path = operation.path.text === '' ? 'the root' : formatPointer(operation.path.text);
      const step = `operation ${index} (${operation.op} ${path})`;
      throw new PatchError(error.reason, `${step}: ${error.message}`);
    }
  }

  result(): unknown {
    if (this.#deepened) checkDepth(this.#root.document);
    return this.#root.document;
  }

  #apply(operation: Operation): void {
    const { path } = operation;
    const depth = path.tokens.length;
    switch (operation.op) {
      case 'add':
        this.#add(path, copyJson(operation.value, depth));
        break;
      case 'replace':
        this.#replace(path, copyJson(operation.value, depth));
        break;
      case 'test':
        this.#test(path, operation.value);
        break;
      case 'remove':
        this.#remove(path);
        break;
      case 'move':
        this.#move(operation.from, path);
        break;
      case 'copy':
        this.#add(path, this.#copier.copy(this.#get(operation.from), depth));
    }
  }

  #move(from: Pointer, path: Pointer): void {
    if (isBelow(path, from))
      throw failed(`a value cannot be moved into itself, from ${formatPointer(from.text)}`);
    this.#deepened ||= path.tokens.length > from.tokens.length;
    if (from.text === path.text) this.#get(from);
    else this.#add(path, this.#remove(from));
  }

  #add(path: Pointer, value: unknown): void {
    const place = this.#place(path);
    if (place === undefined) {
      this.#root.document = value;
    } else if (Array.isArray(place.parent)) {
      const { parent, key } = place;
      const index = key === '-' ? parent.length : listIndex(key, parent.length + 1);
      this.#shift(parent.length - index);
      parent.splice(index, 0, value);
    } else {
      setNew(place.parent, place.key, value);
    }
  }

  #replace(path: Pointer, value: unknown): void {
    const place = this.#place(path);
    if (place === undefined) {
      this.#root.document = value;
      return;
    }
    const { parent, key } = place;
    if (Array.isArray(parent)) parent[listIndex(key, parent.length)] = value;
    else if (Object.hasOwn(parent, key)) setOwn(parent, key, value);
    else throw nothingAt(path);
  }

  #remove(path: Pointer): unknown {
    const value = this.#get(path);
    const place = this.#place(path);
    if (place === undefined) throw failed('the whole object cannot be taken away');
    const { parent, key } = place;
    if (Array.isArray(parent)) {
      const index = listIndex(key, parent.length);
      this.#shift(parent.length - index);
      parent.splice(index, 1);
    } else {
      Reflect.deleteProperty(parent, key);
    }
    return value;
  }

  #test(path: Pointer, value: unknown): void {
    if (!isEqual(this.#lookUp(path) ?? null, value)) throw failed('the value there is another one');
  }

  #get(path: Pointer): unknown {
    const value = this.#lookUp(path);
    if (value === undefined) throw nothingAt(path);
    return value;
  }

  /** Undefined for an absent member of an object. Throws when its parent is absent. */
  #lookUp(path: Pointer): unknown {
    const place = this.#place(path);
    return place === undefined ? this.#root.document : getValue(place.parent, place.key);
  }

  /** The parent of a value and the key in it; undefined for the root. */
  #place({ tokens }: Pointer): { parent: Container; key: string } | undefined {
    const key = tokens.at(-1);
    if (key === undefined) return undefined;
    let value = this.#root.document;
    for (let depth = 0; depth < tokens.length; depth++) {
      if (!Array.isArray(value) && !isRecord(value)) throw nothingWithin(tokens, depth, value);
      if (depth === tokens.length - 1) return { parent: value, key };
      value = getValue(value, tokens[depth] ?? '');
    }
    return undefined;
  }

  #shift(items: number): void {
    this.#shifted += items;
    if (this.#shifted > shiftLimit) {
      throw new PatchError('tooLarge', 'the patch inserts and removes too much at the front of long lists');
    }
  }
}

function getValue(parent: Container, key: string): unknown {
  if (Array.isArray(parent)) return parent[listIndex(key, parent.length)];
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** Parses an index; throws unless it is one below the bound. */
function listIndex(token: string, bound: number): number {
  const index = parseIndex(token);
  if (index === undefined) throw failed(`${JSON.stringify(formatPointer(token))} is no index of a list here`);
  if (index >= bound) throw failed(`the index ${index} is beyond the end of the list`);
  return index;
}

/** Sets a key from a path; it was a string in the body, so parseJson has not checked it as a key. */
function setNew(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key.includes('\\')) throw failed('this server takes no keys with a backslash in them');
  setOwn(object, key, value);
}

/** Whether two values are the same JSON (RFC 6902, 4.6). The time is linear in the size of the smaller one. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isEqual(item, other[index]))
    );
  }
  if (!isRecord(one) || !isRecord(other)) return one === other;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isEqual(one[key], other[key]));
}

function failed(why: string): PatchError {
  return new PatchError('failed', why);
}

function nothingAt({ text }: Pointer): PatchError {
  return failed(`there is nothing at ${formatPointer(text)}`);
}

function nothingWithin(tokens: readonly string[], depth: number, value: unknown): PatchError {
  const above = formatPointer(
    tokens
      .slice(0, depth)
      .map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join(''),
  );
  if (value === undefined) return failed(`there is nothing at ${above}`);
  return failed(`what stands at ${above === '' ? 'the root' : above} is neither an object nor a list`);
}
