import type { Pod } from '../../api/index.ts';

/* Annotations of pods that come from manifests; the names are the reference's. */

/** The source of a pod; `file` for manifests. */
export const sourceAnnotation = 'kubernetes.io/config.source';
/** A hash of the manifest: a changed manifest is another pod. */
export const hashAnnotation = 'kubernetes.io/config.hash';
/** When the manifest was first seen with this content. */
export const firstObservedAnnotation = 'kubernetes.io/config.seen';
/** On the API: the object only mirrors a static pod of a node; the value is the hash of that pod. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** On sandboxes: which agent made it, as `agentMark` says it. Other agents, the reference's too, pay no attention to it. */
export const agentAnnotation = 'nodeward.io/agent';

/** Names an agent to those who find its sandboxes, in another mount namespace too. */
export const agentMark = (nodeName: string, rootDir: string): string =>
  `node ${nodeName}, root folder ${rootDir}`;

export function annotationOf({ metadata }: Pod, name: string): string | undefined {
  return metadata?.annotations?.[name];
}

/** Where a pod comes from, by its annotation. */
export function originOf(pod: Pod): 'file' | 'http' | 'api' {
  const source = annotationOf(pod, sourceAnnotation);
  return isManifestSource(source) ? source : 'api';
}

/** Whether a pod with that value of `sourceAnnotation` comes from a manifest on the node or at a URL. */
export function isManifestSource(source: string | undefined): source is 'file' | 'http' {
  return source === 'file' || source === 'http';
}

/** Uids of the API, hashes of manifests, and what an operator may have written into one: it names files, folders and cgroups. */
export const isPodUid = (uid: string): boolean => /^[0-9A-Za-z][0-9A-Za-z._-]{0,127}$/.test(uid);

/** `default/web` */
export function fullName({ metadata }: Pod): string {
  return `${metadata?.namespace ?? 'default'}/${metadata?.name ?? ''}`;
}

export function compareFullNames({ metadata: a }: Pod, { metadata: b }: Pod): number {
  const byNamespace = compareText(a?.namespace ?? 'default', b?.namespace ?? 'default');
  return byNamespace || compareText(a?.name ?? '', b?.name ?? '');
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
