import type { ApiObject, Kind } from '../../../api/index.ts';
import {
  certificateSigningRequestKind,
  clusterRoleKind,
  namespaceKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  priorityClassKind,
  resourceQuotaKind,
} from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';
import { clusterRoleStrategy } from './cluster-role.ts';
import { namespaceStrategy } from './namespace.ts';
import { priorityClassStrategy } from './priority-class.ts';
import { resourceQuotaStrategy } from './resource-quota.ts';
import { signingRequestStrategy } from './signing-request.ts';
import { claimStrategy, volumeStrategy } from './storage.ts';

export { permanentNamespaces } from './namespace.ts';
export { createPodStrategy, isMirrorPod, mirrorAnnotation } from './pod.ts';
export type { DefaultTolerations } from './pod-tolerations.ts';
export { createServiceStrategy } from './service.ts';
export { claimFinalizer, volumeFinalizer } from './storage.ts';

/** What the kinds do beyond their descriptions, wherever they are stored; a kind that is not here does nothing. */
export const strategies: ReadonlyMap<Kind, Strategy> = new Map([
  entry(namespaceKind, namespaceStrategy),
  entry(certificateSigningRequestKind, signingRequestStrategy),
  entry(clusterRoleKind, clusterRoleStrategy),
  entry(priorityClassKind, priorityClassStrategy),
  entry(resourceQuotaKind, resourceQuotaStrategy),
  entry(persistentVolumeKind, volumeStrategy),
  entry(persistentVolumeClaimKind, claimStrategy),
]);

function entry<T extends ApiObject>(kind: Kind<T>, strategy: Strategy<T>): [Kind, Strategy] {
  return [kind, strategy];
}
