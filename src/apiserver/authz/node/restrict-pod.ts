import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Pod } from '../../../api/index.ts';
import { isMirrorPod, mirrorAnnotation } from '../../registry/index.ts';
import type { NodeFacts } from './facts.ts';
import type { NodeWrite } from './node-write.ts';
import { podReferences } from './pod-references.ts';

/**
 * Why a node may not write a pod so. It tells the status of its own pods, deletes and evicts them, and makes mirror pods;
 * these name nothing: else a node could make itself a pod that names what it wants to read.
 */
export function whyNotPod(write: NodeWrite, facts: NodeFacts): string | undefined {
  const { node, verb, subresource, next, old } = write;
  const me = `node ${JSON.stringify(node)}`;
  if (subresource === 'status') return whyNotStatus(write, me);
  if (subresource !== '') {
    return `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`;
  }
  if (verb === 'create') return next && isPod(write, next) ? whyNotNew(next, node, facts) : undefined;
  if (verb === 'delete') {
    const isOwn = old !== undefined && isPod(write, old) && old.spec?.nodeName === node;
    return isOwn ? undefined : `${me} can only delete pods with spec.nodeName set to itself`;
  }
  return `unexpected operation ${JSON.stringify(verb.toUpperCase())}, ${me} can only create and delete mirror pods`;
}

function isPod({ resource }: NodeWrite, _object: ApiObject): _object is Pod {
  return resource === 'pods';
}

function whyNotStatus(write: NodeWrite, me: string): string | undefined {
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

function whyNotNew(pod: Pod, node: string, facts: NodeFacts): string | undefined {
  const me = `node ${JSON.stringify(node)}`;
  if (!isMirrorPod(pod)) {
    return `pod does not have ${JSON.stringify(mirrorAnnotation)} annotation, ${me} can only create mirror pods`;
  }
  if (pod.spec?.nodeName !== node) return `${me} can only create pods with spec.nodeName set to itself`;
  return whyNotOwners(pod, node, facts) ?? whyNotNamed(pod, me);
}

function whyNotOwners({ metadata }: Pod, node: string, facts: NodeFacts): string | undefined {
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

const told: Readonly<Record<string, string>> = {
  serviceaccounts: 'a service account',
  secrets: 'secrets',
  configmaps: 'configmaps',
  persistentvolumeclaims: 'persistentvolumeclaims',
};

function whyNotNamed(pod: Pod, me: string): string | undefined {
  const [first = ''] = podReferences(pod);
  const what = told[first.slice(0, first.indexOf('/'))];
  if (what !== undefined) return `${me} can not create pods that reference ${what}`;
  const sources = (pod.spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined)
    ? `${me} can not create pods that reference clustertrustbundles`
    : undefined;
}
