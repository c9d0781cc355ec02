import { checkCidr, extentOfCidr, familyOfCidr } from '../addresses.ts';

/** More addresses than a range may have; the search for a free one visits them all in the worst case. */
const maxBits = 20;

/** What is wrong with ranges of addresses for services, or undefined. */
export function checkServiceRanges(ranges: readonly string[]): string | undefined {
  const families = ranges.map((range) => (checkCidr(range) === undefined ? familyOfCidr(range) : 0));
  if (families.includes(0)) return checkCidr(ranges[families.indexOf(0)] ?? '');
  if (ranges.length === 0 || ranges.length > 2) return 'must be one range, or two of different families';
  if (new Set(families).size < ranges.length) return 'must be of different families';
  const large = ranges.some((range) => extentOfCidr(range).size > 1n << BigInt(maxBits));
  if (large) return `must have no more than ${maxBits} bits beyond the prefix`;
  const small = ranges.some((range) => extentOfCidr(range).size < 8n);
  return small ? 'must have at least 8 addresses' : undefined;
}
