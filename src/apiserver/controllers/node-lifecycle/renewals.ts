import type { Stored } from '../../storage/index.ts';

const renewTimeKey = Buffer.from('"renewTime":"');
const quote = 0x22;

/**
 * Whether a write of a Lease renews it. Compares the stored bytes: thousands of Leases are renewed every ten seconds and
 * must not be parsed for that. A Lease without a renew time is no sign of life.
 */
export function isRenewal(previous: Stored | null, next: Stored): boolean {
  const at = findRenewTime(next);
  if (at < 0) return false;
  const before = previous === null ? -1 : findRenewTime(previous);
  return previous === null || before < 0 || !isSameText(previous.value, before, next.value, at);
}

/**
 * The position at which the time begins, or -1. It is the last one in the object: the spec follows the metadata, and
 * quotes inside a string are escaped.
 */
function findRenewTime({ value }: Stored): number {
  const bytes = Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const at = bytes.lastIndexOf(renewTimeKey);
  return at < 0 ? at : at + renewTimeKey.length;
}

/** Whether the text is the same at two positions, up to the quote that ends it. */
function isSameText(one: Uint8Array, at: number, other: Uint8Array, otherAt: number): boolean {
  for (let index = 0; one[at + index] === other[otherAt + index]; index++) {
    if (one[at + index] === quote || at + index >= one.length) return true;
  }
  return false;
}
