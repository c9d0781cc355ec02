import type { NetworkInterfaceInfo } from 'node:os';
import { hostname, networkInterfaces } from 'node:os';
import type { AlternativeNames } from '../../base/x509/index.ts';
import { alternativeNames } from '../../base/x509/index.ts';

const usual = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '127.0.0.1', '::1'];

/** Whether clients may look for the API under that name, wherever it runs. */
export function isUsualServerName(name: string): boolean {
  return usual.includes(name) || name.startsWith('kubernetes.default.');
}

/**
 * The names under which the API's certificate must be good: the usual ones, the host's, and those given. Where one of
 * these means all addresses (0.0.0.0, ::) it stands for those that the machine has now.
 */
export function servingNames(given: readonly string[]): AlternativeNames {
  const isForAll = given.some((name) => name === '0.0.0.0' || name === '::');
  return alternativeNames([...usual, hostname(), ...given, ...(isForAll ? ownAddresses() : [])]);
}

/**
 * What a server that listens on `bindAddress` is reached by. One that listens for this machine alone is reached by the
 * machine's pods at all of its addresses: their agent passes connections on.
 */
export function namesWithRelays(bindAddress: string): string[] {
  const isLocal = bindAddress === '::1' || bindAddress.startsWith('127.');
  return isLocal ? [bindAddress, '0.0.0.0'] : [bindAddress];
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses: readonly NetworkInterfaceInfo[] | undefined) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}
