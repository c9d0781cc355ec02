import type { Stored } from '../../storage/index.ts';

const renewTimeKey = Buffer.from('"renewTime":"');
const quote = 0x22;

/**
 * Whether a write of a Lease renews it, told from the stored bytes: thousands of leases are renewed every ten seconds
 * and must not be parsed for that. A lease that names no time is no sign of life.
 */
export function isRenewal(previous: Stored | null, next: Stored): boolean {
  const time = renewTimeOf(next);
  return time !== undefined && (previous === null || renewTimeOf(previous) !== time);
}

/** The last one in the object: its spec stands behind its metadata, and what is quoted in a string is escaped. */
function renewTimeOf({ value }: Stored): string | undefined {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const at = bytes.lastIndexOf(renewTimeKey);
  if (at < 0) return undefined;
  const start = at + renewTimeKey.length;
  return bytes.toString('latin1', start, bytes.indexOf(quote, start));
}
