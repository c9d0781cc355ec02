import { BlockList, isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { networkInterfaces } from 'node:os';
import type { NodeAddress } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { createRecentReader, readKernelFile } from '../../base/index.ts';

export interface AddressOptions {
  /** As the kernel reports it, or what overrides it. */
  hostname: string;
  /**
   * Reported instead of the detected addresses: one address, or one of each family in the order in which they are
   * reported. `::` and `0.0.0.0` stand for the detected ones, that family first.
   */
  nodeIps?: readonly string[];
  externalIps?: readonly string[];
  /** Where the kernel's files are; default `/proc`. */
  procDir?: string;
  /** Default that of node:os. */
  interfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
}

/** Returns what is wrong with the addresses that the operator has configured; undefined where they are valid. */
export function findNodeIpsFault(addresses: readonly string[]): string | undefined {
  const families = addresses.map((address) => isIP(address));
  if (families.includes(0)) return `${addresses[families.indexOf(0)]} is no IP address`;
  if (addresses.length > 2 || (addresses.length === 2 && families[0] === families[1]))
    return 'it takes one address, or one of each family';
  const unspecific = addresses.filter((address) => isUnspecified(address));
  if (addresses.length > 1 && unspecific.length > 0) return `${unspecific[0]} must stand alone`;
  const local = addresses.find((address) =>
    localRanges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  );
  return local === undefined ? undefined : `${local} leads to no other machine`;
}

/** Loopback, link-local and multicast: other machines cannot reach this one by them. */
const localRanges = new BlockList();
localRanges.addSubnet('127.0.0.0', 8);
localRanges.addSubnet('169.254.0.0', 16);
localRanges.addSubnet('224.0.0.0', 4);
localRanges.addAddress('::1', 'ipv6');
localRanges.addSubnet('fe80::', 10, 'ipv6');
localRanges.addSubnet('ff00::', 8, 'ipv6');

const isUnspecified = (address: string) => address === '0.0.0.0' || address === '::';

/**
 * Lists the node's addresses: InternalIP (IPv4 before IPv6) of the interface of the default route, else of the first one
 * that is not loopback, else 127.0.0.1; then ExternalIP and Hostname. Of IPv6 only permanent global addresses.
 */
export function listNodeAddresses(options: AddressOptions): NodeAddress[] {
  const { hostname, nodeIps = [], externalIps = [] } = options;
  const [configured = ''] = nodeIps;
  const internal =
    configured === '' || isUnspecified(configured) ? detectAddresses(options, configured === '::') : nodeIps;
  return [
    ...internal.map((address) => ({ type: 'InternalIP', address })),
    ...externalIps.map((address) => ({ type: 'ExternalIP', address })),
    { type: 'Hostname', address: hostname },
  ];
}

/** How old the addresses of a reader may be. */
const maxAgeMs = 5000;

/**
 * Returns a function that lists the node's addresses as they were at most 5 s ago. The kernel goes through all interfaces of
 * the machine, two for each pod, and each status of a pod has the addresses in it.
 */
export function createAddressReader(options: AddressOptions, clock: Clock): () => readonly NodeAddress[] {
  return createRecentReader(clock, maxAgeMs, () => listNodeAddresses(options));
}

function detectAddresses(options: AddressOptions, ipv6First: boolean): readonly string[] {
  const { procDir = '/proc', interfaces = networkInterfaces } = options;
  const found = [detectIpv4(procDir, interfaces()), detectIpv6(procDir)];
  const internal = (ipv6First ? found.reverse() : found).flat();
  return internal.length > 0 ? internal : ['127.0.0.1'];
}

function detectIpv4(procDir: string, all: NodeJS.Dict<NetworkInterfaceInfo[]>): string[] {
  const usable = (name: string) =>
    (all[name] ?? [])
      .filter((entry) => entry.family === 'IPv4' && !entry.internal && !entry.address.startsWith('169.254.'))
      .map((entry) => entry.address);
  const routed = findDefaultInterface4(readKernelFile(`${procDir}/net/route`) ?? '');
  const first = routed === undefined ? undefined : usable(routed)[0];
  return [first ?? Object.keys(all).flatMap(usable)[0] ?? []].flat();
}

const routeUp = 0x1;
const routeReject = 0x200;

/** The interface of the IPv4 default route with the smallest metric (proc_net(5), /proc/net/route). */
export function findDefaultInterface4(table: string): string | undefined {
  const routes = table.split('\n').flatMap((line) => {
    const [name, destination, , flags, , , metric, mask] = line.trim().split(/\s+/);
    if (name === undefined || destination !== '00000000' || mask !== '00000000') return [];
    const bits = Number.parseInt(flags ?? '0', 16);
    return bits & routeUp && !(bits & routeReject) ? [{ name, metric: Number(metric) }] : [];
  });
  return preferredRoute(routes);
}

/** The interface of the IPv6 default route with the smallest metric (/proc/net/ipv6_route). */
export function findDefaultInterface6(table: string): string | undefined {
  const routes = table.split('\n').flatMap((line) => {
    const [destination, prefix, , , , metric, , , flags, name] = line.trim().split(/\s+/);
    if (name === undefined || name === 'lo' || prefix !== '00' || !/^0{32}$/.test(destination ?? ''))
      return [];
    const bits = Number.parseInt(flags ?? '0', 16);
    return bits & routeUp && !(bits & routeReject)
      ? [{ name, metric: Number.parseInt(metric ?? '0', 16) }]
      : [];
  });
  return preferredRoute(routes);
}

function preferredRoute(routes: readonly { name: string; metric: number }[]): string | undefined {
  return [...routes].sort((a, b) => a.metric - b.metric)[0]?.name;
}

/** Flags of temporary, deprecated, failed and tentative addresses (IFA_F_… in linux/if_addr.h). */
const temporaryFlags = 0x01 | 0x20 | 0x08 | 0x40;

function detectIpv6(procDir: string): string[] {
  const routed = findDefaultInterface6(readKernelFile(`${procDir}/net/ipv6_route`) ?? '');
  if (routed === undefined) return [];
  const lines = (readKernelFile(`${procDir}/net/if_inet6`) ?? '').split('\n');
  for (const line of lines) {
    const [hex, , , scope, flags, name] = line.trim().split(/\s+/);
    if (name !== routed || scope !== '00' || Number.parseInt(flags ?? '0', 16) & temporaryFlags) continue;
    const address = formatIpv6(hex ?? '');
    if (address !== undefined) return [address];
  }
  return [];
}

/** The short form (RFC 5952) of 32 hexadecimal digits. */
function formatIpv6(hex: string): string | undefined {
  if (!/^[0-9a-f]{32}$/.test(hex)) return undefined;
  const groups = hex.match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
