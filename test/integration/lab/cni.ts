import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

/**
 * A point-to-point network for pods, in a subnet between 10.192.0.0 and 10.197.0.0 that none of this machine's interfaces
 * is in. Addresses are handed out from a file below `folder`. No interface has the subnet before the first pod: of two
 * networks that are made at a time with one subnet, one would have no pods, so there are many to choose from.
 */
export function cniConfiguration(folder: string): string {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: freeSubnet(`10.${192 + Math.floor(6 * Math.random())}`) }]],
    dataDir: join(folder, 'addresses'),
  };
  return JSON.stringify({ cniVersion: '1.0.0', name: 'lab', plugins: [{ type: 'ptp', ipam }] });
}

/**
 * A bridge for pods, with the node's address for what they send elsewhere and with ports of the node for pods that
 * ask for them. It changes the machine's firewall, so it is for a network namespace of its own, where no other has
 * its subnet.
 */
export function bridgeConfiguration(folder: string): string {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: podSubnet }]],
    routes: [{ dst: '0.0.0.0/0' }],
    dataDir: join(folder, 'addresses'),
  };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, hairpinMode: true, ipam };
  const portmap = { type: 'portmap', capabilities: { portMappings: true }, snat: true };
  return JSON.stringify({ cniVersion: '1.0.0', name: 'lab', plugins: [bridge, portmap] });
}

/** The subnet of the pods on a bridge: room for a thousand. */
export const podSubnet = '10.88.0.0/22';

const givenOut = new Set<string>();

/** A subnet `PREFIX.N.0/24` that none of this machine's interfaces is in, and that this process was not given before. */
export function freeSubnet(prefix: string): string {
  const taken = new Set(
    Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .map(({ address }) => address.replace(/\.\d+$/, '')),
  );
  const candidates = Array.from({ length: 256 }, (_, index) => `${prefix}.${index}`);
  const free = candidates.filter((candidate) => !taken.has(candidate) && !givenOut.has(candidate));
  const chosen = free[Math.floor(Math.random() * free.length)];
  if (chosen === undefined) throw new Error(`no subnet of ${prefix}.0.0/16 is free`);
  givenOut.add(chosen);
  return `${chosen}.0/24`;
}
