import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../api/index.ts';

/** The objects of storage by name; undefined: there is none that can be read. */
export interface VolumeLookup {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumes(): Iterable<PersistentVolume>;
  storageClass(name: string): StorageClass | undefined;
  csiNode(name: string): CSINode | undefined;
  /** The claim, of a pod that is being bound, that a volume has been chosen for. */
  chosenFor(volume: string): PersistentVolumeClaim | undefined;
  /** The node on which a volume is being made for a claim. */
  chosenNode(claim: PersistentVolumeClaim): string | undefined;
}

export type Claim = PersistentVolumeClaim;
export type Volume = PersistentVolume;

/** What the volume controller marks a claim with when it has bound it. */
export const boundAnnotation = 'pv.kubernetes.io/bind-completed';

/** Whether claim and volume belong together for good. */
export function isBound({ metadata, spec }: Claim): boolean {
  return Boolean(spec?.volumeName) && metadata?.annotations?.[boundAnnotation] !== undefined;
}

/** Annotation of a claim that tells a driver on which node the pod will be. */
export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

export function classOf({ metadata, spec }: Claim | Volume): string {
  return metadata?.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '';
}
