import type { Pod } from '../../../api/index.ts';
import { defineKind, objectStruct } from '../../../api/index.ts';
import type { Infer } from '../../../api/schema/index.ts';
import { field, list, string, struct } from '../../../api/schema/index.ts';

/*
 * A ResourceClaim as far as a node reads it: which drivers have devices for it, and which pods may use them. The control plane of
 * this program does not serve the kind; others do.
 */

const result = struct('DeviceRequestAllocationResult', {
  request: field(1, string, 'The request that it is for.'),
  driver: field(2, string, 'The driver of the device.'),
});
const allocation = struct('AllocationResult', {
  devices: field(1, struct('DeviceAllocationResult', { results: field(1, list(result), 'Devices.') }), '-'),
});
const consumer = struct('ResourceClaimConsumerReference', {
  resource: field(3, string, 'What uses it.'),
  name: field(4, string, 'Its name.'),
  uid: field(5, string, 'Its uid.'),
});
const root = objectStruct('ResourceClaim', {
  status: field(
    3,
    struct('ResourceClaimStatus', {
      allocation: field(1, allocation, 'What was allocated.'),
      reservedFor: field(2, list(consumer), 'Who may use it.'),
    }),
    'What became of it.',
  ),
});

export interface ResourceClaim extends Infer<typeof root> {}

export const resourceClaim = defineKind<ResourceClaim>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  doc: 'Devices that were allocated to pods.',
  resource: 'resourceclaims',
  singular: 'resourceclaim',
  namespaced: true,
  root,
});

/** A claim that a pod names. */
export interface NamedClaim {
  /** In the pod; undefined for the one that was made for its extended resources. */
  readonly inPod: string | undefined;
  readonly name: string;
  /** It was made from a template, for this pod alone. */
  readonly isOwned: boolean;
}

/** The claims of a pod by the names of their objects. Throws an Error for people while one is not there yet. */
export function listClaims({ metadata, spec, status }: Pod): NamedClaim[] {
  const pod = `pod "${metadata?.namespace}/${metadata?.name}"`;
  const named = (spec?.resourceClaims ?? []).flatMap((each): NamedClaim[] => {
    const { name: inPod, resourceClaimName, resourceClaimTemplateName } = each;
    if (resourceClaimName !== undefined) return [{ inPod, name: resourceClaimName, isOwned: false }];
    if (resourceClaimTemplateName === undefined)
      throw new Error(
        `${pod}, spec.resourceClaim ${JSON.stringify(inPod)}: none of the supported fields are set`,
      );
    const made = status?.resourceClaimStatuses?.find(({ name }) => name === inPod);
    if (made === undefined) throw new Error(`${pod}: ResourceClaim not created yet`);
    const { resourceClaimName: name } = made;
    return name === undefined ? [] : [{ inPod, name, isOwned: true }]; // this pod needs none
  });
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  return extended === undefined ? named : [...named, { inPod: undefined, name: extended, isOwned: false }];
}

/** A claim that a container uses. */
export interface ContainerClaim {
  readonly name: string;
  /** Undefined: all its requests. */
  readonly request: string | undefined;
}

/** Those of one container, in the order of the pod's. */
export function claimsOfContainer(pod: Pod, container: string): ContainerClaim[] {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const { claims = [] } =
    [...initContainers, ...containers].find(({ name }) => name === container)?.resources ?? {};
  const mappings = pod.status?.extendedResourceClaimStatus?.requestMappings ?? [];
  return listClaims(pod).flatMap(({ inPod, name }): ContainerClaim[] => {
    if (inPod !== undefined)
      return claims.flatMap((each) =>
        each.name === inPod ? [{ name, request: each.request || undefined }] : [],
      );
    const own = mappings.filter(({ containerName }) => containerName === container);
    return own.map(({ requestName }) => ({ name, request: requestName }));
  });
}

/** Throws an Error for people where the pod may not use the claim, or it has no devices yet; returns the drivers of these. */
export function checkClaim(pod: Pod, { isOwned }: NamedClaim, claim: ResourceClaim): string[] {
  const { name = '', namespace = '', uid = '', ownerReferences = [] } = claim.metadata ?? {};
  const { name: podName, namespace: podNamespace, uid: podUid } = pod.metadata ?? {};
  const isOwner = ownerReferences.some(
    ({ controller, uid: owner }) => controller === true && owner === podUid,
  );
  if (isOwned && !isOwner)
    throw new Error(
      `ResourceClaim ${namespace}/${name} was not created for Pod ${podNamespace}/${podName} (Pod is not owner)`,
    );
  const { reservedFor = [], allocation: allocated } = claim.status ?? {};
  if (!reservedFor.some(({ uid: user }) => user === podUid))
    throw new Error(`pod ${podName} (${podUid}) is not allowed to use ResourceClaim ${name} (${uid})`);
  if (allocated === undefined) throw new Error(`ResourceClaim ${name}: not allocated`);
  const drivers = (allocated.devices?.results ?? []).flatMap(({ driver }) => driver ?? []);
  return [...new Set(drivers)];
}
