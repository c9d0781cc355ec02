import type { Lease } from '../../api/index.ts';
import { leaseKind } from '../../api/index.ts';
import type { Registry } from '../registry/index.ts';

export const serverLeaseNamespace = 'kube-system';
export const serverLeasePrefix = 'nodeward-apiserver-';
/** Names and addresses under which a server serves, separated by commas. */
export const namesAnnotation = 'nodeward.io/serving-names';

/** Where other machines reach a server: an IP address, a space, and a port. */
export const addressAnnotation = 'nodeward.io/advertised-address';

/** The Leases of all servers on this store. Only a user who may write in `kube-system` can create one. */
export function listServerLeases(registry: Registry): Lease[] {
  const leases = registry.of(leaseKind);
  const prefix = leases.prefix(serverLeaseNamespace) + serverLeasePrefix;
  return leases.storage.list(prefix, '', 0).items.map((stored) => leases.encoding.read(stored));
}

/** Names and addresses that the servers on this store have announced. Throws while one of them cannot be read. */
export function listServerNames(registry: Registry): string[] {
  const leases = registry.of(leaseKind);
  const [unknown] = leases.storage.unreadable(leases.prefix(serverLeaseNamespace) + serverLeasePrefix);
  if (unknown !== undefined)
    throw new Error(`the names of a server are not known: ${unknown.key}: ${unknown.why}`);
  const announced = listServerLeases(registry).map(
    ({ metadata }) => metadata?.annotations?.[namesAnnotation] ?? '',
  );
  return [...new Set(announced.flatMap((names) => names.split(',').filter((name) => name !== '')))];
}
