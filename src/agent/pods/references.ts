import type { Cause, Pod } from '../../api/index.ts';
import { forbiddenValue } from '../../api/index.ts';

type Spec = NonNullable<Pod['spec']>;
type Volume = NonNullable<Spec['volumes']>[number];
type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type Container = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'env' | 'envFrom'>;

/** A field, and what it names. */
type Reference = readonly [path: string, what: string];

/**
 * What a static pod may not say, as in the reference: it is there before any object of the API, so it refers to none.
 */
export function referenceCauses({ spec }: Pod): Cause[] {
  return spec === undefined
    ? []
    : referencesOf(spec).map(([path, what]) =>
        forbiddenValue(path, `a static pod may not refer to ${what} of the API`),
      );
}

function referencesOf(spec: Spec): Reference[] {
  const { imagePullSecrets = [], resourceClaims = [], volumes = [], initContainers = [] } = spec;
  return [
    ...named('spec.serviceAccountName', spec.serviceAccountName, 'a service account'),
    ...named('spec.serviceAccount', spec.serviceAccount, 'a service account'),
    ...imagePullSecrets.flatMap((_, at) => named(`spec.imagePullSecrets[${at}]`, true, 'a secret')),
    ...resourceClaims.flatMap((_, at) => named(`spec.resourceClaims[${at}]`, true, 'a resource claim')),
    ...(spec.containers ?? []).flatMap((each, at) => ofContainer(each, `spec.containers[${at}]`)),
    ...initContainers.flatMap((each, at) => ofContainer(each, `spec.initContainers[${at}]`)),
    ...volumes.flatMap((volume, at) => ofVolume(volume, `spec.volumes[${at}]`)),
  ];
}

function named(path: string, given: unknown, what: string): Reference[] {
  return given ? [[path, what]] : [];
}

function ofContainer({ env = [], envFrom = [] }: Container, path: string): Reference[] {
  return [
    ...env.flatMap(({ valueFrom }, at) => [
      ...named(`${path}.env[${at}].valueFrom.secretKeyRef`, valueFrom?.secretKeyRef, 'a secret'),
      ...named(`${path}.env[${at}].valueFrom.configMapKeyRef`, valueFrom?.configMapKeyRef, 'a config map'),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }, at) => [
      ...named(`${path}.envFrom[${at}].secretRef`, secretRef, 'a secret'),
      ...named(`${path}.envFrom[${at}].configMapRef`, configMapRef, 'a config map'),
    ]),
  ];
}

function ofVolume(volume: Volume, path: string): Reference[] {
  const { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos, projected } = volume;
  const withSecret = { cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos };
  return [
    ...named(`${path}.secret`, volume.secret, 'a secret'),
    ...named(`${path}.configMap`, volume.configMap, 'a config map'),
    ...named(`${path}.persistentVolumeClaim`, volume.persistentVolumeClaim, 'a claim'),
    ...named(`${path}.ephemeral`, volume.ephemeral, 'a claim'),
    ...named(`${path}.azureFile.secretName`, volume.azureFile?.secretName, 'a secret'),
    ...named(`${path}.csi.nodePublishSecretRef`, volume.csi?.nodePublishSecretRef, 'a secret'),
    ...Object.entries(withSecret).flatMap(([name, source]) =>
      named(`${path}.${name}.secretRef`, source?.secretRef, 'a secret'),
    ),
    ...(projected?.sources ?? []).flatMap((each, at) => ofSource(each, `${path}.projected.sources[${at}]`)),
  ];
}

function ofSource(source: Source, path: string): Reference[] {
  return [
    ...named(`${path}.secret`, source.secret, 'a secret'),
    ...named(`${path}.configMap`, source.configMap, 'a config map'),
    ...named(`${path}.serviceAccountToken`, source.serviceAccountToken, 'a service account'),
    ...named(`${path}.clusterTrustBundle`, source.clusterTrustBundle, 'a cluster trust bundle'),
  ];
}
