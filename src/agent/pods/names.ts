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

export function annotationOf({ metadata }: Pod, name: string): string | undefined {
  return metadata?.annotations?.[name];
}

/** `default/web` */
export function fullName({ metadata }: Pod): string {
  return `${metadata?.namespace ?? 'default'}/${metadata?.name ?? ''}`;
}

export function compareFullNames(a: Pod, b: Pod): number {
  return fullName(a) < fullName(b) ? -1 : 1;
}
