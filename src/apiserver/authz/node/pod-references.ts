import type { Pod } from '../../../api/index.ts';

type Spec = NonNullable<Pod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];
type Containers = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'env' | 'envFrom'>[];

/** The resources whose objects a pod can name, and a node may read then. */
export type ReferencedResource = 'configmaps' | 'persistentvolumeclaims' | 'secrets' | 'serviceaccounts';

/**
 * The objects of its own namespace that a pod names, as `RESOURCE/NAME`; some perhaps twice. The same as the reference
 * finds: secrets to pull images and of volumes, what the environment comes from, claims, and the service account.
 */
export function podReferences(pod: Pod): string[] {
  const { spec, metadata } = pod;
  if (spec === undefined) return [];
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  return [
    ...keys('serviceaccounts', [spec.serviceAccountName]),
    ...keys('secrets', (spec.imagePullSecrets ?? []).map(nameOf)),
    ...environmentReferences([...containers, ...initContainers, ...ephemeralContainers]),
    ...volumes.flatMap(volumeSecrets),
    ...volumes.flatMap(volumeConfigMaps),
    ...keys(
      'persistentvolumeclaims',
      volumes.map((volume) => claimOf(volume, metadata?.name ?? '')),
    ),
  ];
}

function keys(resource: ReferencedResource, names: readonly (string | undefined)[]): string[] {
  return names.flatMap((name) => (name ? [referenceKey(resource, name)] : []));
}

export function referenceKey(resource: ReferencedResource, name: string): string {
  return `${resource}/${name}`;
}

function nameOf(reference: { name?: string } | undefined): string | undefined {
  return reference?.name;
}

function environmentReferences(containers: Containers): string[] {
  return containers.flatMap(({ env = [], envFrom = [] }) => [
    ...keys('secrets', [
      ...env.map(({ valueFrom }) => nameOf(valueFrom?.secretKeyRef)),
      ...envFrom.map(({ secretRef }) => nameOf(secretRef)),
    ]),
    ...keys('configmaps', [
      ...env.map(({ valueFrom }) => nameOf(valueFrom?.configMapKeyRef)),
      ...envFrom.map(({ configMapRef }) => nameOf(configMapRef)),
    ]),
  ]);
}

function volumeSecrets({ secret, azureFile, csi, projected, ...volume }: Volume): string[] {
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos } = volume;
  const withSecret = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos];
  return keys('secrets', [
    secret?.secretName,
    azureFile?.secretName,
    nameOf(csi?.nodePublishSecretRef),
    ...withSecret.map((source) => nameOf(source?.secretRef)),
    ...(projected?.sources ?? []).map((source) => nameOf(source.secret)),
  ]);
}

function volumeConfigMaps({ configMap, projected }: Volume): string[] {
  const projections = (projected?.sources ?? []).map((source) => nameOf(source.configMap));
  return keys('configmaps', [nameOf(configMap), ...projections]);
}

/** A claim that is made for the pod is called after it and the volume. */
function claimOf({ name, persistentVolumeClaim, ephemeral }: Volume, podName: string): string | undefined {
  return persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${podName}-${name}`);
}
