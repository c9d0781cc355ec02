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
  const wrong = checkAddressWithPrefix(range);
  if (wrong !== undefined) return wrong;
  const { address, beyond } = parseRange(range);
  return (numberOf(address) & beyond) === 0n ? undefined : 'must not have bits set beyond the prefix length';
}

/** As checkCidr, of a range that may be given by any address in it. */
export function checkAddressWithPrefix(range: string): string | undefined {
  const { address, prefix, bits } = parseRange(range);
  if (familyOf(address) === 0 || !(prefix <= bits)) return notRange;
  return isMapped(address) ? 'must not have an IPv4-mapped IPv6 address' : undefined;
}

/** The prefix is NaN, and the address empty, of what is no range. */
function parseRange(range: string) {
  const [, address = '', prefix = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(range) ?? [];
  const bits = familyOf(address) === 4 ? 32 : 128;
  const size = prefix === '' ? Number.NaN : Number(prefix);
  return { address, prefix: size, bits, beyond: size <= bits ? (1n << BigInt(bits - size)) - 1n : 0n };
}

/** 4 or 6; of a range that checkCidr takes. */
export function familyOfCidr(range: string): number {
  return isIP(range.slice(0, range.indexOf('/')));
}

/** The addresses of a range that checkCidr takes: the first as a number, and how many there are. */
export function extentOfCidr(range: string): { first: bigint; size: bigint } {
  const { address, beyond } = parseRange(range);
  return { first: numberOf(address), size: beyond + 1n };
}

/** The number of an address that checkIP takes; one address has one number within its family, however it is written. */
export function numberOf(address: string): bigint {
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

/** The usual text of an address of a family, 4 or 6. */
export function addressOf(number: bigint, family: number): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 0xffn).join('.');
  const parts = Array.from({ length: 8 }, (_, index) => (number >> BigInt(112 - 16 * index)) & 0xffffn);
  return new URL(`http://[${parts.map((part) => part.toString(16)).join(':')}]`).hostname.slice(1, -1);
}
