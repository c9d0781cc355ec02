import type { ApiObject, Kind, Pod } from '../../../api/index.ts';
import { certificateSigningRequestKind, nodeKind, podKind } from '../../../api/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { ReferencedResource } from './pod-references.ts';
import { referenceKey } from './pod-references.ts';
import { PodsByNode } from './pods-by-node.ts';

/** What is stored and decides what a node may do. */
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
  /** The name of the user who made a request for a certificate. */
  requester(name: string): string | undefined;
}

export interface StoredFacts extends NodeFacts {
  /** Looks at all pods. Otherwise that happens at the first question about what they name. */
  load(): void;
}

/** Out of the registry, as of the last write that was applied. */
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

/** Of a server that stores nothing. */
export const noFacts: NodeFacts = {
  names: () => false,
  pod: () => undefined,
  nodeUid: () => undefined,
  requester: () => undefined,
};
