import type { ApiObject, Kind, Pod, ReferencedResource } from '../../../api/index.ts';
import {
  certificateSigningRequestKind,
  csiDriverKind,
  nodeKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  podKind,
  resourceSliceKind,
  volumeAttachmentKind,
} from '../../../api/index.ts';
import type { Registry } from '../../registry/index.ts';
import { PodsByNode, referenceKey } from './pods-by-node.ts';
import type { ClaimName } from './volume-secrets.ts';
import { claimOfVolume, VolumeSecrets } from './volume-secrets.ts';

/** The stored facts that decide what a node may do. */
export interface NodeFacts {
  /** Whether a pod of the node names an object of the pod's namespace. */
  names(
    node: string,
    resource: ReferencedResource,
    namespace: string,
    name: string,
  ): boolean | Promise<boolean>;
  pod(namespace: string, name: string): Pod | undefined;
  /** The UID of a Node. */
  nodeUid(name: string): string | undefined;
  /** The claim that a volume is bound to. */
  claimOf(volume: string): ClaimName | undefined;
  /** The CSI driver of the volume behind a claim. */
  driverOf(claim: ClaimName): string | undefined;
  /** For whom a CSI driver is given tokens of pods. */
  audiencesOf(driver: string): readonly string[];
  /** The claims whose volumes need a Secret on the node. */
  claimsWithSecret(namespace: string, name: string): readonly ClaimName[];
  /** The node that an attachment is for. */
  attachedTo(attachment: string): string | undefined;
  /** The node that a ResourceSlice is of; of one for several nodes, or of none, empty. */
  sliceNode(slice: string): string | undefined;
  /** The name of the user who created a CertificateSigningRequest. */
  requester(name: string): string | undefined;
}

export interface StoredFacts extends NodeFacts {
  /** Reads all pods now instead of at the first question about their references. */
  load(): void;
}

/** Facts from the registry, as of the last applied write. */
export function storedFacts(registry: () => Registry): StoredFacts {
  let known: PodsByNode | undefined;
  let secrets: VolumeSecrets | undefined;
  const pods = () => {
    known ??= new PodsByNode(registry());
    return known;
  };

  function find<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    const resource = registry().of(kind);
    const stored = name === '' ? undefined : resource.storage.get(resource.prefix(namespace) + name);
    return stored && resource.encoding.read(stored);
  }

  return {
    names: (node, resource, namespace, name) =>
      pods().names(node, namespace, referenceKey({ resource, name })),
    pod: (namespace, name) => (namespace === '' ? undefined : find(podKind, namespace, name)),
    nodeUid: (name) => find(nodeKind, '', name)?.metadata?.uid,
    claimOf(name) {
      const volume = find(persistentVolumeKind, '', name);
      return volume && claimOfVolume(volume);
    },
    driverOf({ namespace, name }) {
      const claim = find(persistentVolumeClaimKind, namespace, name);
      return find(persistentVolumeKind, '', claim?.spec?.volumeName ?? '')?.spec?.csi?.driver;
    },
    audiencesOf: (driver) =>
      (find(csiDriverKind, '', driver)?.spec.tokenRequests ?? []).map(({ audience }) => audience),
    claimsWithSecret(namespace, name) {
      secrets ??= new VolumeSecrets(registry());
      return secrets.claimsOf(namespace, name);
    },
    attachedTo: (name) => find(volumeAttachmentKind, '', name)?.spec.nodeName,
    sliceNode: (name) => {
      const slice = find(resourceSliceKind, '', name);
      return slice && (slice.spec?.nodeName ?? '');
    },
    requester: (name) => find(certificateSigningRequestKind, '', name)?.spec.username,
    load: () => void pods(),
  };
}

/** The facts of a server without storage. */
export const noFacts: NodeFacts = {
  names: () => false,
  pod: () => undefined,
  nodeUid: () => undefined,
  claimOf: () => undefined,
  driverOf: () => undefined,
  audiencesOf: () => [],
  claimsWithSecret: () => [],
  attachedTo: () => undefined,
  sliceNode: () => undefined,
  requester: () => undefined,
};
