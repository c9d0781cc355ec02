import type { ApiObject, Kind, Pod } from '../../../api/index.ts';
import { certificateSigningRequestKind, nodeKind, podKind } from '../../../api/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { ReferencedResource } from './pod-references.ts';
import { referenceKey } from './pod-references.ts';
import { PodsByNode } from './pods-by-node.ts';

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
    names: (node, resource, namespace, name) => pods().names(node, namespace, referenceKey(resource, name)),
    pod: (namespace, name) => (namespace === '' ? undefined : find(podKind, namespace, name)),
    nodeUid: (name) => find(nodeKind, '', name)?.metadata?.uid,
    requester: (name) => find(certificateSigningRequestKind, '', name)?.spec.username,
    load: () => void pods(),
  };
}

/** The facts of a server without storage. */
export const noFacts: NodeFacts = {
  names: () => false,
  pod: () => undefined,
  nodeUid: () => undefined,
  requester: () => undefined,
};
