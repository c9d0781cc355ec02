import type { Stored } from '../../storage/index.ts';

/*
 * What the collector must know of every change, read from the stored bytes: a heartbeat renews its Lease every ten
 * seconds, names its owner each time, and must not be parsed for that.
 *
 * A key `ownerReferences` may occur anywhere: in a set of managed fields, in the template of a volume claim. Only that of
 * the object's own metadata counts; mistaking another one for it would hide that an object is owned. So the metadata is
 * scanned, keeping track of strings and depth. It is found by its name: every stored object begins with its kind, its
 * apiVersion and its metadata, and quotes inside a string are escaped.
 */

const metadataOpening = Buffer.from('"metadata":{');
const ownersKey = Buffer.from('"ownerReferences":[');
const deletionKey = Buffer.from('"deletionTimestamp":');
const quote = 0x22;
const backslash = 0x5c;
/** `[` and `]` differ from `{` and `}` in this bit only. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/** From the key to the end of the list. */
interface Range {
  start: number;
  end: number;
}

/** Whether an object names the same owners as before, in the same bytes. */
export function hasSameOwners(previous: Stored | null, next: Stored): boolean {
  const now = bytesOf(next);
  const owners = findOwners(now);
  if (previous === null) return owners === undefined;
  const before = bytesOf(previous);
  // when everything before the list is the same, the list is at the same position
  if (owners !== undefined && isSame(before, { start: 0, end: owners.end }, now, 0)) return true;
  const ownersBefore = findOwners(before);
  if (owners === undefined || ownersBefore === undefined) return owners === ownersBefore;
  return isSame(before, ownersBefore, now, owners.start);
}

/** Whether an object may be in deletion: false only when it is not. */
export function seemsDeleted(object: Stored): boolean {
  return bytesOf(object).includes(deletionKey);
}

function bytesOf({ value }: Stored): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** The position of an object's own list of owners; undefined when it has none. */
function findOwners(bytes: Buffer): Range | undefined {
  const metadata = bytes.indexOf(metadataOpening);
  if (metadata < 0) return { start: 0, end: bytes.length }; // another program's format: any change may be one of the owners
  let at = metadata + metadataOpening.length;
  let key = bytes.indexOf(ownersKey, at);
  let isOwn = false;
  for (let depth = 0; key >= 0 && depth >= 0 && at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      if (at === key && depth === 0) isOwn = true;
      else if (at === key) key = bytes.indexOf(ownersKey, at + 1);
      at = findEndOfString(bytes, at);
    } else if ((byte | caseBit) === opening) depth++;
    else if ((byte | caseBit) === closing && --depth === 0 && isOwn) return { start: key, end: at + 1 };
  }
  return undefined;
}

/** The position of the quote that ends the string that begins at `from`. */
function findEndOfString(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** Whether the bytes of a range are also in `others`, at position `at`. */
function isSame(bytes: Buffer, { start, end }: Range, others: Buffer, at: number): boolean {
  const endThere = at + end - start;
  if (end > bytes.length || endThere > others.length) return false;
  return bytes.compare(others, at, endThere, start, end) === 0;
}
