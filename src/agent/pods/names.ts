import type { Pod } from '../../api/index.ts';

/* Marks of pods that come from manifests; the names are the reference's. */

/** Where a pod comes from; of manifests `file`. */
export const sourceAnnotation = 'kubernetes.io/config.source';
/** What a manifest says, in short: another manifest, another pod. */
export const hashAnnotation = 'kubernetes.io/config.hash';
/** When it was first seen so. */
export const seenAnnotation = 'kubernetes.io/config.seen';
/** On the API: the object only shows a pod that a node has of its own accord; the hash of that pod. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

export function annotationOf({ metadata }: Pod, name: string): string | undefined {
  return metadata?.annotations?.[name];
}

/** `default/web` */
export function fullName({ metadata }: Pod): string {
  return `${metadata?.namespace ?? 'default'}/${metadata?.name ?? ''}`;
}

export function byFullName(a: Pod, b: Pod): number {
  return fullName(a) < fullName(b) ? -1 : 1;
}
