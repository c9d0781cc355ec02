import type { Lease } from '../../api/index.ts';
import { leaseKind } from '../../api/index.ts';
import type { Registry } from '../registry/index.ts';

export const serverLeaseNamespace = 'kube-system';
export const serverLeasePrefix = 'nodeward-apiserver-';
/** Names and addresses under which a server serves, parted by commas. */
export const namesAnnotation = 'nodeward.io/serving-names';

/** The Leases of all servers on this store. Only who may write in `kube-system` can make one. */
export function serverLeases(registry: Registry): Lease[] {
  const leases = registry.of(leaseKind);
  const prefix = leases.prefix(serverLeaseNamespace) + serverLeasePrefix;
  return leases.storage.list(prefix, '', 0).items.map((stored) => leases.encoding.read(stored));
}

/** Names and addresses of all servers on this store that have told of themselves. */
export function serverNames(registry: Registry): string[] {
  const told = serverLeases(registry).map(({ metadata }) => metadata?.annotations?.[namesAnnotation] ?? '');
  return [...new Set(told.flatMap((names) => names.split(',').filter((name) => name !== '')))];
}
