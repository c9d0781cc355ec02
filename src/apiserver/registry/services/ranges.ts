import { isIP } from 'node:net';
import { addressOf, extentOfCidr, familyOfCidr, numberOf } from '../../../api/index.ts';
import { keptOf } from './pool.ts';

/** What services are given of. */
export interface ServiceRanges {
  /** Addresses, one range or one for each family; the first family is that of a service that says none. */
  clusterIPs: readonly string[];
  /** Ports on the nodes, from the first to the last. */
  nodePorts: readonly [first: number, last: number];
}

export const defaultServiceRanges: ServiceRanges = {
  clusterIPs: ['10.0.0.0/24'],
  nodePorts: [30_000, 32_767],
};

/** Addresses for services: those of a range without the first, and without the last of IPv4. */
export class AddressRange {
  readonly text: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly size: number;
  readonly kept: number;
  readonly #first: bigint;

  /** Of a range that checkServiceRanges takes. */
  constructor(range: string) {
    const { first, size } = extentOfCidr(range);
    const bits = familyOfCidr(range);
    this.text = range;
    this.family = bits === 4 ? 'IPv4' : 'IPv6';
    this.#first = first + 1n;
    this.size = Number(size) - (bits === 4 ? 2 : 1);
    this.kept = Math.min(keptOf(Number(size), 16, 256), this.size);
  }

  at(offset: number): string {
    return addressOf(this.#first + BigInt(offset), this.family === 'IPv4' ? 4 : 6);
  }

  /** Where an address is in the range; undefined when it is not. */
  offsetOf(address: string): number | undefined {
    if ((isIP(address) === 4 ? 'IPv4' : 'IPv6') !== this.family) return undefined;
    const offset = numberOf(address) - this.#first;
    return offset >= 0n && offset < BigInt(this.size) ? Number(offset) : undefined;
  }
}
