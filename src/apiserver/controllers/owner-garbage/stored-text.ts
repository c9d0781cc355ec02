import type { Stored } from '../../storage/index.ts';

/*
 * What the collector must know of every change, told from the stored bytes: a heartbeat renews its Lease every ten
 * seconds, names its owner each time, and must not be parsed for that. A string inside JSON has its quotes escaped, so
 * what is searched for is a key. Where it is the key of something else the collector looks at an object for nothing.
 */

const ownersKey = Buffer.from('"ownerReferences":[');
const deletionKey = Buffer.from('"deletionTimestamp":');
const quote = 0x22;
const backslash = 0x5c;
const close = 0x5d;

/** Whether an object names the same owners as before, in the same words. */
export function hasSameOwners(previous: Stored | null, next: Stored): boolean {
  const now = bytesOf(next);
  const start = now.indexOf(ownersKey);
  const before = previous === null ? undefined : bytesOf(previous);
  const startBefore = before === undefined ? -1 : before.indexOf(ownersKey);
  if (before === undefined || start < 0 || startBefore < 0) return start === startBefore;
  const length = endOfList(before, startBefore + ownersKey.length) - startBefore;
  if (start + length > now.length) return false;
  return before.compare(now, start, start + length, startBefore, startBefore + length) === 0;
}

/** Whether an object may be in deletion. */
export function seemsDeleted(object: Stored): boolean {
  return bytesOf(object).includes(deletionKey);
}

function bytesOf({ value }: Stored): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** Behind the closing bracket; the entries of this list hold no lists. */
function endOfList(bytes: Buffer, from: number): number {
  let isText = false;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === backslash) at++;
    else if (byte === quote) isText = !isText;
    else if (byte === close && !isText) return at + 1;
  }
  return bytes.length;
}
