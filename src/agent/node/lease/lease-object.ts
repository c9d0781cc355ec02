import type { Lease, OwnerReference } from '../../../api/index.ts';
import { formatMicroTime } from '../../../api/index.ts';

/** Where the leases of nodes live. */
export const leaseNamespace = 'kube-node-lease';

export interface LeaseFacts {
  nodeName: string;
  /** Of the stored Node; undefined while it is not known. */
  nodeUid: string | undefined;
  durationSeconds: number;
  /** Wall clock, milliseconds since 1970. */
  nowMs: number;
}

/** Returns the lease to write: a new one, or `known` renewed, with everything that others have added to it. */
export function renewLease(known: Lease | undefined, facts: LeaseFacts): Lease {
  const { nodeName, durationSeconds, nowMs } = facts;
  const owners = ownedByNode(known?.metadata?.ownerReferences, facts);
  return {
    ...known,
    metadata: {
      ...known?.metadata,
      name: nodeName,
      namespace: leaseNamespace,
      ...(owners === undefined ? {} : { ownerReferences: owners }),
    },
    spec: {
      ...known?.spec,
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: formatMicroTime(nowMs),
    },
  };
}

/** The currently stored Node owns the lease; an earlier one of the same name no longer does. */
function ownedByNode(
  references: readonly OwnerReference[] | undefined,
  { nodeName, nodeUid }: LeaseFacts,
): OwnerReference[] | undefined {
  if (nodeUid === undefined) return references === undefined ? undefined : [...references];
  const others = (references ?? []).filter((owner) => owner.kind !== 'Node' || owner.name !== nodeName);
  return [...others, { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid }];
}
