import type { Pod } from '../../../api/index.ts';

type Spec = NonNullable<Pod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];
type Containers = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'env' | 'envFrom'>[];

/** The resources whose objects a pod can refer to, so that its node may read them. */
export type ReferencedResource = 'configmaps' | 'persistentvolumeclaims' | 'secrets' | 'serviceaccounts';

/**
 * Lists the objects of its own namespace that a pod refers to, as `RESOURCE/NAME`, possibly with duplicates. The same ones
 * as in the reference: image pull secrets, secrets of volumes, sources of the environment, claims, and the service account.
 */
export function listPodReferences(pod: Pod): string[] {
  const { spec, metadata } = pod;
  if (spec === undefined) return [];
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  return [
    ...toKeys('serviceaccounts', [spec.serviceAccountName]),
    ...toKeys('secrets', (spec.imagePullSecrets ?? []).map(nameOf)),
    ...listEnvironmentReferences([...containers, ...initContainers, ...ephemeralContainers]),
    ...volumes.flatMap(listVolumeSecrets),
    ...volumes.flatMap(listVolumeConfigMaps),
    ...toKeys(
      'persistentvolumeclaims',
      volumes.map((volume) => claimOf(volume, metadata?.name ?? '')),
    ),
  ];
}

function toKeys(resource: ReferencedResource, names: readonly (string | undefined)[]): string[] {
  return names.flatMap((name) => (name ? [referenceKey(resource, name)] : []));
}

export function referenceKey(resource: ReferencedResource, name: string): string {
  return `${resource}/${name}`;
}

function nameOf(reference: { name?: string } | undefined): string | undefined {
  return reference?.name;
}

function listEnvironmentReferences(containers: Containers): string[] {
  return containers.flatMap(({ env = [], envFrom = [] }) => [
    ...toKeys('secrets', [
      ...env.map(({ valueFrom }) => nameOf(valueFrom?.secretKeyRef)),
      ...envFrom.map(({ secretRef }) => nameOf(secretRef)),
    ]),
    ...toKeys('configmaps', [
      ...env.map(({ valueFrom }) => nameOf(valueFrom?.configMapKeyRef)),
      ...envFrom.map(({ configMapRef }) => nameOf(configMapRef)),
    ]),
  ]);
}

function listVolumeSecrets({ secret, azureFile, csi, projected, ...volume }: Volume): string[] {
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  const withSecret = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos];
  return toKeys('secrets', [
    secret?.secretName,
    azureFile?.secretName,
    nameOf(csi?.nodePublishSecretRef),
    ...withSecret.map((source) => nameOf(source?.secretRef)),
    ...(projected?.sources ?? []).map((source) => nameOf(source.secret)),
  ]);
}

function listVolumeConfigMaps({ configMap, projected }: Volume): string[] {
  const projections = (projected?.sources ?? []).map((source) => nameOf(source.configMap));
  return toKeys('configmaps', [nameOf(configMap), ...projections]);
}

/** A claim that is created for the pod is named after the pod and the volume. */
function claimOf({ name, persistentVolumeClaim, ephemeral }: Volume, podName: string): string | undefined {
  return persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${podName}-${name}`);
}
