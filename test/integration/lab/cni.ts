import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

/**
 * A point-to-point network for pods, in a subnet of 10.199.0.0/16 that none of this machine's interfaces
 * is in. Addresses are handed out from a file below `folder`.
 */
export function cniConfiguration(folder: string): string {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: freeSubnet() }]],
    dataDir: join(folder, 'addresses'),
  };
  return JSON.stringify({ cniVersion: '1.0.0', name: 'lab', plugins: [{ type: 'ptp', ipam }] });
}

function freeSubnet(): string {
  const taken = new Set(
    Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .map(({ address }) => address.replace(/\.\d+$/, '')),
  );
  const candidates = Array.from({ length: 256 }, (_, index) => `10.199.${index}`);
  const free = candidates.filter((prefix) => !taken.has(prefix));
  const chosen = free[Math.floor(Math.random() * free.length)];
  if (chosen === undefined) throw new Error('no subnet of 10.199.0.0/16 is free');
  return `${chosen}.0/24`;
}
