import type { Pod } from './pod.ts';

type Spec = NonNullable<Pod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];
type Container = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'env' | 'envFrom'>;

/** The resources whose objects a pod can refer to, so that its node may read them. */
export type ReferencedResource =
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'resourceclaims'
  | 'secrets'
  | 'serviceaccounts';

/** An object in the namespace of the pod. */
export interface PodReference {
  readonly resource: ReferencedResource;
  readonly name: string;
}

/**
 * Lists the objects of its own namespace that a pod refers to, possibly with duplicates. The same ones as in the reference:
 * image pull secrets, secrets of volumes, sources of the environment, claims of storage and of devices, and the service account.
 */
export function listPodReferences({ spec, status, metadata }: Pod): PodReference[] {
  if (spec === undefined) return [];
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  return [
    ...toReferences('serviceaccounts', [spec.serviceAccountName]),
    ...toReferences('secrets', (spec.imagePullSecrets ?? []).map(nameOf)),
    ...[...containers, ...initContainers, ...ephemeralContainers].flatMap(listEnvironmentReferences),
    ...volumes.flatMap(listVolumeSecrets),
    ...volumes.flatMap(listVolumeConfigMaps),
    ...toReferences(
      'persistentvolumeclaims',
      volumes.map((volume) => claimOf(volume, metadata?.name ?? '')),
    ),
    ...toReferences('resourceclaims', [
      ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
      ...(status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName), // of templates
    ]),
  ];
}

/** The same, of the environment of one container: ConfigMaps and Secrets. */
export function listEnvironmentReferences({ env = [], envFrom = [] }: Container): PodReference[] {
  return [
    ...toReferences('secrets', [
      ...env.map(({ valueFrom }) => nameOf(valueFrom?.secretKeyRef)),
      ...envFrom.map(({ secretRef }) => nameOf(secretRef)),
    ]),
    ...toReferences('configmaps', [
      ...env.map(({ valueFrom }) => nameOf(valueFrom?.configMapKeyRef)),
      ...envFrom.map(({ configMapRef }) => nameOf(configMapRef)),
    ]),
  ];
}

function toReferences(resource: ReferencedResource, names: readonly (string | undefined)[]): PodReference[] {
  return names.flatMap((name) => (name ? [{ resource, name }] : []));
}

function nameOf(reference: { name?: string } | undefined): string | undefined {
  return reference?.name;
}

function listVolumeSecrets({ secret, azureFile, csi, projected, ...volume }: Volume): PodReference[] {
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  const withSecret = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos];
  return toReferences('secrets', [
    secret?.secretName,
    azureFile?.secretName,
    nameOf(csi?.nodePublishSecretRef),
    ...withSecret.map((source) => nameOf(source?.secretRef)),
    ...(projected?.sources ?? []).map((source) => nameOf(source.secret)),
  ]);
}

function listVolumeConfigMaps({ configMap, projected }: Volume): PodReference[] {
  const projections = (projected?.sources ?? []).map((source) => nameOf(source.configMap));
  return toReferences('configmaps', [nameOf(configMap), ...projections]);
}

/** A claim that is created for the pod is named after the pod and the volume. */
function claimOf({ name, persistentVolumeClaim, ephemeral }: Volume, podName: string): string | undefined {
  return persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${podName}-${name}`);
}
