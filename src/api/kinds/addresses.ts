import { BlockList, isIP } from 'node:net';

/*
 * Checks of IP addresses and of ranges of them. They return what is wrong, or undefined. What programs read differently is
 * refused: leading zeros in IPv4, and IPv4 addresses in the form of IPv6.
 */

const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

const mappedText = 'must not be an IPv4-mapped IPv6 address';

function isMapped(address: string): boolean {
  return isIP(address) === 6 && mapped.check(address, 'ipv6');
}

/** Zero for what is no address; one with a zone is none. */
function familyOf(address: string): number {
  return address.includes('%') ? 0 : isIP(address);
}

export function checkIP(address: string): string | undefined {
  if (familyOf(address) === 0) return 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  return isMapped(address) ? mappedText : undefined;
}

const notRange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

export function checkCidr(range: string): string | undefined {
  const [, address = '', prefix = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(range) ?? [];
  const bits = familyOf(address) === 4 ? 32 : 128;
  if (familyOf(address) === 0 || Number(prefix) > bits) return notRange;
  if (isMapped(address)) return 'must not have an IPv4-mapped IPv6 address';
  const beyond = (1n << BigInt(bits - Number(prefix))) - 1n;
  return (numberOf(address) & beyond) === 0n ? undefined : 'must not have bits set beyond the prefix length';
}

/** 4 or 6; of a range that checkCidr takes. */
export function familyOfCidr(range: string): number {
  return isIP(range.slice(0, range.indexOf('/')));
}

function numberOf(address: string): bigint {
  if (isIP(address) === 4) return joinParts(address.split('.'), 10, 8n);
  const full = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = full.split('::');
  const first = head.split(':').filter((part) => part !== '');
  const last = tail.split(':').filter((part) => part !== '');
  const between = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return joinParts([...first, ...between, ...last], 16, 16n);
}

function joinParts(parts: readonly string[], radix: number, bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(Number.parseInt(part, radix)), 0n);
}
