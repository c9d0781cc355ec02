import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Pod, ReferencedResource } from '../../../api/index.ts';
import { listPodReferences } from '../../../api/index.ts';
import { isMirrorPod, mirrorAnnotation } from '../../registry/index.ts';
import type { NodeFacts } from './facts.ts';
import type { NodeWrite } from './node-write.ts';

/**
 * Returns why a node agent may not make this write of a pod; undefined when it may. It may write the status of its own pods,
 * delete and evict them, and create mirror pods. Mirror pods may not refer to other objects: else an agent could create a
 * pod that refers to whatever it wants to read.
 */
export function explainPodRefusal(write: NodeWrite, facts: NodeFacts): string | undefined {
  const { node, verb, subresource, next, old } = write;
  const me = `node ${JSON.stringify(node)}`;
  if (subresource === 'status') return checkStatus(write, me);
  if (subresource !== '') {
    return `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`;
  }
  if (verb === 'create') return next && isPod(write, next) ? checkNewPod(next, node, facts) : undefined;
  if (verb === 'delete') {
    const isOwn = old !== undefined && isPod(write, old) && old.spec?.nodeName === node;
    return isOwn ? undefined : `${me} can only delete pods with spec.nodeName set to itself`;
  }
  return `unexpected operation ${JSON.stringify(verb.toUpperCase())}, ${me} can only create and delete mirror pods`;
}

function isPod({ resource }: NodeWrite, _object: ApiObject): _object is Pod {
  return resource === 'pods';
}

function checkStatus(write: NodeWrite, me: string): string | undefined {
  const { node, next, old } = write;
  if (next === undefined || old === undefined || !isPod(write, old) || !isPod(write, next)) return undefined;
  if (old.spec?.nodeName !== node) {
    return `${me} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!isDeepStrictEqual(next.metadata?.labels ?? {}, old.metadata?.labels ?? {})) {
    return `${me} cannot update labels through pod status`;
  }
  const claims = (pod: Pod) => pod.status?.resourceClaimStatuses ?? [];
  return isDeepStrictEqual(claims(next), claims(old))
    ? undefined
    : `${me} cannot update resource claim statues`;
}

function checkNewPod(pod: Pod, node: string, facts: NodeFacts): string | undefined {
  const me = `node ${JSON.stringify(node)}`;
  if (!isMirrorPod(pod)) {
    return `pod does not have ${JSON.stringify(mirrorAnnotation)} annotation, ${me} can only create mirror pods`;
  }
  if (pod.spec?.nodeName !== node) return `${me} can only create pods with spec.nodeName set to itself`;
  return checkOwners(pod, node, facts) ?? checkReferences(pod, me);
}

function checkOwners({ metadata }: Pod, node: string, facts: NodeFacts): string | undefined {
  const me = `node ${JSON.stringify(node)}`;
  const [owner, ...more] = metadata?.ownerReferences ?? [];
  if (more.length > 0) return `${me} can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${me} can only create pods with an owner reference set to itself`;
  }
  if (owner.controller !== true) {
    return `${me} can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion === true) {
    return `${me} must not set blockOwnerDeletion on an owner reference`;
  }
  const uid = facts.nodeUid(node);
  if (uid === owner.uid) return undefined;
  return uid === undefined
    ? `there is no node ${node} that could own the pod`
    : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

const referenceNames: Readonly<Record<ReferencedResource, string>> = {
  serviceaccounts: 'a service account',
  secrets: 'secrets',
  configmaps: 'configmaps',
  persistentvolumeclaims: 'persistentvolumeclaims',
  resourceclaims: 'resourceclaims',
};

function checkReferences(pod: Pod, me: string): string | undefined {
  const [first] = listPodReferences(pod);
  if (first !== undefined)
    return `${me} can not create pods that reference ${referenceNames[first.resource]}`;
  const sources = (pod.spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined))
    return `${me} can not create pods that reference clustertrustbundles`;
  if ((pod.spec?.resourceClaims ?? []).length > 0)
    return `${me} can not create pods that reference resourceclaims`;
  return sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)
    ? 'a mirror pod may not use ServiceAccountToken volume projections'
    : undefined;
}
