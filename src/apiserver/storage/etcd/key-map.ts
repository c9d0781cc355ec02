import { identityPart, keysPart, ourPrefix, ownPart, places, raisePart, readOnlyPart } from './layout.ts';
import type { KeyRange } from './wire/watch-call.ts';

/** A range of our keys, in order. What follows `ours` in such a key follows `theirs` in etcd's key. */
interface Region {
  readonly from: Uint8Array;
  readonly end: Uint8Array;
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
}

/** Greater than every well-formed text. */
const behindAll = Uint8Array.of(0xff);

/**
 * Translates between our keys and etcd's. Our keys are cut into regions, in their order, each of which is contiguous in
 * etcd; so a range of our keys is a small number of ranges there, to be read one after the other.
 */
export class KeyMap {
  /** Of all that is watched: a key's prefix with a slash at its end. */
  readonly root: KeyRange;
  readonly identityKey: Uint8Array;
  readonly raiseKey: Uint8Array;
  readonly readOnlyKey: Uint8Array;
  readonly #prefix: string;
  readonly #regions: readonly Region[];

  /** `prefix` as `/registry`, with or without a slash at its end. */
  constructor(prefix: string) {
    this.#prefix = `${prefix.replace(/\/+$/, '')}/`;
    this.root = { from: bytesOf(this.#prefix), end: endOf(this.#prefix) };
    this.identityKey = bytesOf(this.#prefix + identityPart);
    this.raiseKey = bytesOf(this.#prefix + raisePart);
    this.readOnlyKey = bytesOf(this.#prefix + readOnlyPart);
    this.#regions = this.#cut();
  }

  toEtcd(key: string): Uint8Array {
    return bytesOf(this.#prefix + placeOf(key));
  }

  /** Undefined: it is not the key of an object. */
  fromEtcd(bytes: Uint8Array): string | undefined {
    const rest = this.restOf(bytes);
    const ours = rest === undefined ? undefined : keyOf(rest);
    return ours !== undefined && placeOf(ours) === rest ? ours : undefined;
  }

  /** What follows the prefix in a key of etcd; undefined: it is not below the prefix. */
  restOf(bytes: Uint8Array): string | undefined {
    const key = textOf(bytes);
    return key.startsWith(this.#prefix) ? key.slice(this.#prefix.length) : undefined;
  }

  /** The range in etcd of what starts with this text behind the prefix. */
  range(start: string): KeyRange {
    return { from: bytesOf(this.#prefix + start), end: endOf(this.#prefix + start) };
  }

  /** The ranges in etcd of our keys that start with `prefix` and are greater than `after`, in their order. */
  ranges(prefix: string, after: string): readonly KeyRange[] {
    const behind = after === '' ? new Uint8Array() : bytesOf(`${after}\0`);
    const from = later(bytesOf(prefix), behind);
    const end = prefix === '' ? behindAll : endOf(prefix);
    return this.#regions.flatMap((region) => {
      const range = { from: later(from, region.from), end: earlier(end, region.end) };
      if (Buffer.compare(range.from, range.end) >= 0) return [];
      return [{ from: translate(range.from, region, 'from'), end: translate(range.end, region, 'end') }];
    });
  }

  #cut(): readonly Region[] {
    const own = bytesOf(this.#prefix + keysPart);
    const ownRegion = (from: Uint8Array, end: Uint8Array): Region => ({
      from,
      end,
      ours: new Uint8Array(),
      theirs: own,
    });
    const regions: Region[] = [ownRegion(new Uint8Array(), bytesOf(ourPrefix))];
    let at: Uint8Array = bytesOf(ourPrefix);
    const plain = { ours: bytesOf(ourPrefix), theirs: bytesOf(this.#prefix) };
    for (const part of specialParts()) {
      const from = bytesOf(ourPrefix + part);
      const end = endOf(ourPrefix + part);
      if (Buffer.compare(at, from) < 0) regions.push({ from: at, end: from, ...plain });
      const place = places.get(part);
      if (place === undefined) regions.push(ownRegion(from, end));
      else regions.push({ from, end, ours: from, theirs: bytesOf(this.#prefix + place) });
      at = end;
    }
    regions.push({ from: at, end: endOf(ourPrefix), ...plain });
    regions.push(ownRegion(endOf(ourPrefix), behindAll));
    return regions;
  }
}

/** The first segments of keys that are not stored under their own name, in order. */
function specialParts(): readonly string[] {
  const taken = [...places.values()].map(firstPart).filter((part) => !places.has(part));
  return [...new Set([...places.keys(), ...taken, ownPart])].sort();
}

const taken = new Set([...places.values(), ownPart].map(firstPart));

function placeOf(key: string): string {
  if (!key.startsWith(ourPrefix)) return keysPart + key;
  const rest = key.slice(ourPrefix.length);
  const part = firstPart(rest);
  const place = places.get(part);
  if (place !== undefined) return place + rest.slice(part.length);
  return taken.has(part) ? keysPart + key : rest;
}

function keyOf(rest: string): string | undefined {
  if (rest.startsWith(keysPart)) return rest.slice(keysPart.length);
  const part = firstPart(rest);
  if (!taken.has(part)) return ourPrefix + rest;
  for (const [ours, theirs] of places) {
    if (rest.startsWith(theirs)) return ourPrefix + ours + rest.slice(theirs.length);
  }
  return undefined;
}

/** Up to and with the first slash. */
function firstPart(text: string): string {
  const slash = text.indexOf('/');
  return slash < 0 ? '' : text.slice(0, slash + 1);
}

/** Translates a bound of a range in a region; the region's own end becomes the end of its place in etcd. */
function translate(
  bound: Uint8Array,
  { from, end, ours, theirs }: Region,
  which: 'from' | 'end',
): Uint8Array {
  const inside = startsWith(bound, ours);
  if (which === 'end' && !inside && Buffer.compare(bound, end) === 0) return endOfBytes(theirs);
  if (which === 'from' && !inside && Buffer.compare(bound, from) === 0) return theirs;
  return Buffer.concat([theirs, bound.subarray(ours.length)]);
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && Buffer.compare(bytes.subarray(0, start.length), start) === 0;
}

function later(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Buffer.compare(a, b) < 0 ? b : a;
}

function earlier(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Buffer.compare(a, b) < 0 ? a : b;
}

function endOf(prefix: string): Uint8Array {
  return endOfBytes(bytesOf(prefix));
}

/** The first bytes after all that start with these; these are a text's and therefore hold no 0xff. */
function endOfBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return behindAll;
  const end = Uint8Array.from(bytes);
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
  return end;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}
