import type { Stored } from '../../storage/index.ts';

/*
 * What the collector must know of every change, told from the stored bytes: a heartbeat renews its Lease every ten
 * seconds, names its owner each time, and must not be parsed for that.
 *
 * A key `ownerReferences` may stand anywhere: in a set of fields that somebody manages, in the template of a volume
 * claim. Only that of the object's own metadata counts, and to take another one for it would be to miss that an object
 * is owned. So the metadata is gone through with its strings and depths told apart. It is found by its name: every
 * stored object begins with its kind, its apiVersion and its metadata, and a string has its quotes escaped.
 */

const metadataOpening = Buffer.from('"metadata":{');
const ownersKey = Buffer.from('"ownerReferences":[');
const deletionKey = Buffer.from('"deletionTimestamp":');
const quote = 0x22;
const backslash = 0x5c;
/** Both kinds of brackets are these but for one bit. */
const caseBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/** From the key to behind the list. */
interface Range {
  start: number;
  end: number;
}

/** Whether an object names the same owners as before, in the same words. */
export function hasSameOwners(previous: Stored | null, next: Stored): boolean {
  const now = bytesOf(next);
  const owners = ownersIn(now);
  if (previous === null) return owners === undefined;
  const before = bytesOf(previous);
  // all that comes before it being the same, it stands in the same place
  if (owners !== undefined && isSame(before, { start: 0, end: owners.end }, now, 0)) return true;
  const ownersBefore = ownersIn(before);
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

/** Where an object's own list of owners stands; undefined when it has none. */
function ownersIn(bytes: Buffer): Range | undefined {
  const metadata = bytes.indexOf(metadataOpening);
  if (metadata < 0) return { start: 0, end: bytes.length }; // not written here: whatever changes may be the owners
  let at = metadata + metadataOpening.length;
  let key = bytes.indexOf(ownersKey, at);
  let isOwn = false;
  for (let depth = 0; key >= 0 && depth >= 0 && at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      if (at === key && depth === 0) isOwn = true;
      else if (at === key) key = bytes.indexOf(ownersKey, at + 1);
      at = endOfText(bytes, at);
    } else if ((byte | caseBit) === opening) depth++;
    else if ((byte | caseBit) === closing && --depth === 0 && isOwn) return { start: key, end: at + 1 };
  }
  return undefined;
}

/** At the quote that ends the string that begins at a quote. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** Whether the bytes of a range stand at a place of others. */
function isSame(bytes: Buffer, { start, end }: Range, others: Buffer, at: number): boolean {
  const endThere = at + end - start;
  if (end > bytes.length || endThere > others.length) return false;
  return bytes.compare(others, at, endThere, start, end) === 0;
}
