import type { Cause, Pod } from '../../../api/index.ts';
import { forbiddenValue } from '../../../api/index.ts';

type Spec = NonNullable<Pod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];
type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type Container = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'env' | 'envFrom'>;

/** A field, and the kind of object that it names. */
type Reference = readonly [path: string, what: string];

/**
 * Finds references to objects of the API, which a static pod may not have, as in the reference: it may exist before them.
 */
export function findReferenceCauses({ spec }: Pod): Cause[] {
  return spec === undefined
    ? []
    : listReferences(spec).map(([path, what]) =>
        forbiddenValue(path, `a static pod may not refer to ${what} of the API`),
      );
}

function listReferences(spec: Spec): Reference[] {
  const { imagePullSecrets = [], resourceClaims = [], volumes = [], initContainers = [] } = spec;
  return [
    ...referenceTo('spec.serviceAccountName', spec.serviceAccountName, 'a service account'),
    ...referenceTo('spec.serviceAccount', spec.serviceAccount, 'a service account'),
    ...imagePullSecrets.flatMap((_, at) => referenceTo(`spec.imagePullSecrets[${at}]`, true, 'a secret')),
    ...resourceClaims.flatMap((_, at) => referenceTo(`spec.resourceClaims[${at}]`, true, 'a resource claim')),
    ...(spec.containers ?? []).flatMap((each, at) => listContainerReferences(each, `spec.containers[${at}]`)),
    ...initContainers.flatMap((each, at) => listContainerReferences(each, `spec.initContainers[${at}]`)),
    ...volumes.flatMap((volume, at) => listVolumeReferences(volume, `spec.volumes[${at}]`)),
  ];
}

function referenceTo(path: string, given: unknown, what: string): Reference[] {
  return given ? [[path, what]] : [];
}

function listContainerReferences({ env = [], envFrom = [] }: Container, path: string): Reference[] {
  return [
    ...env.flatMap(({ valueFrom }, at) => [
      ...referenceTo(`${path}.env[${at}].valueFrom.secretKeyRef`, valueFrom?.secretKeyRef, 'a secret'),
      ...referenceTo(
        `${path}.env[${at}].valueFrom.configMapKeyRef`,
        valueFrom?.configMapKeyRef,
        'a config map',
      ),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }, at) => [
      ...referenceTo(`${path}.envFrom[${at}].secretRef`, secretRef, 'a secret'),
      ...referenceTo(`${path}.envFrom[${at}].configMapRef`, configMapRef, 'a config map'),
    ]),
  ];
}

function listVolumeReferences(volume: Volume, path: string): Reference[] {
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos, projected } = volume;
  const withSecret = { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos };
  return [
    ...referenceTo(`${path}.secret`, volume.secret, 'a secret'),
    ...referenceTo(`${path}.configMap`, volume.configMap, 'a config map'),
    ...referenceTo(`${path}.persistentVolumeClaim`, volume.persistentVolumeClaim, 'a claim'),
    ...referenceTo(`${path}.ephemeral`, volume.ephemeral, 'a claim'),
    ...referenceTo(`${path}.azureFile.secretName`, volume.azureFile?.secretName, 'a secret'),
    ...referenceTo(`${path}.csi.nodePublishSecretRef`, volume.csi?.nodePublishSecretRef, 'a secret'),
    ...Object.entries(withSecret).flatMap(([name, source]) =>
      referenceTo(`${path}.${name}.secretRef`, source?.secretRef, 'a secret'),
    ),
    ...(projected?.sources ?? []).flatMap((each, at) =>
      listSourceReferences(each, `${path}.projected.sources[${at}]`),
    ),
  ];
}

function listSourceReferences(source: Source, path: string): Reference[] {
  return [
    ...referenceTo(`${path}.secret`, source.secret, 'a secret'),
    ...referenceTo(`${path}.configMap`, source.configMap, 'a config map'),
    ...referenceTo(`${path}.serviceAccountToken`, source.serviceAccountToken, 'a service account'),
    ...referenceTo(`${path}.clusterTrustBundle`, source.clusterTrustBundle, 'a cluster trust bundle'),
  ];
}
