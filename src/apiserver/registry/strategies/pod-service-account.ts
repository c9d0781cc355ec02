import type { Pod, ServiceAccount } from '../../../api/index.ts';
import { listPodReferences, serviceAccountKind } from '../../../api/index.ts';
import { randomSuffix } from '../random-suffix.ts';
import type { StoredObjects } from '../strategy.ts';
import { explainSecretRefusal } from './mountable-secrets.ts';
import { podRefusal } from './pod-refusal.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];
type Volume = NonNullable<Spec['volumes']>[number];

/** The account of pods that name no other; the control plane keeps one in every namespace. */
export const defaultAccountName = 'default';
const volumePrefix = 'kube-api-access-';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const rootCertificates = 'kube-root-ca.crt';
/** Tokens of this life last for a year, and tell when they should have been replaced. */
const tokenSeconds = 3607;

/**
 * A new pod with what its service account gives it: a volume with a token, in all containers that have nothing there, and the
 * secrets to pull images with. Throws Forbidden when there is no such account, or when the account may not use a secret of the
 * pod. As in the reference.
 */
export function withServiceAccount(pod: Pod, stored: StoredObjects, isDryRun: boolean): Pod {
  const { spec } = pod;
  if (spec === undefined) return pod; // validation refuses it
  const account = findAccount(pod, stored, isDryRun);
  const pulling = spec.imagePullSecrets?.length ? {} : pullSecretsOf(account);
  const next: Pod = { ...pod, spec: { ...withToken(spec, account), ...pulling } };
  refuseSecrets(next, account);
  return next;
}

/** Throws Forbidden when the account of a pod may not use a secret of its ephemeral containers. */
export function checkEphemeralSecrets(pod: Pod, stored: StoredObjects): void {
  refuseSecrets(pod, findAccount(pod, stored, false));
}

/** Throws Forbidden when a mirror pod wants what its account would give it: its node runs it without the API. */
export function checkMirrorPod(pod: Pod): void {
  const sources = (pod.spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  const refusals = [
    [Boolean(pod.spec?.serviceAccountName), 'a mirror pod may not reference service accounts'],
    [
      listPodReferences(pod).some(({ resource }) => resource === 'secrets'),
      'a mirror pod may not reference secrets',
    ],
    [
      sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ] as const;
  const why = refusals.find(([applies]) => applies)?.[1];
  if (why !== undefined) throw podRefusal(pod, why);
}

function findAccount(pod: Pod, stored: StoredObjects, isDryRun: boolean): ServiceAccount {
  const { metadata: { namespace = '' } = {}, spec } = pod;
  const name = spec?.serviceAccountName || spec?.serviceAccount || '';
  const found = stored.find(serviceAccountKind, namespace, name);
  if (found !== undefined) return found;
  if (isDryRun && name === defaultAccountName) return {}; // it would be made
  const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
  throw podRefusal(pod, why);
}

function refuseSecrets(pod: Pod, account: ServiceAccount): void {
  const why = explainSecretRefusal(pod, account);
  if (why !== undefined) throw podRefusal(pod, why);
}

function pullSecretsOf({ imagePullSecrets = [] }: ServiceAccount): Pick<Spec, 'imagePullSecrets'> {
  return imagePullSecrets.length === 0
    ? {}
    : { imagePullSecrets: imagePullSecrets.map((each) => ({ ...each })) };
}

function withToken(spec: Spec, account: ServiceAccount): Spec {
  const wanted = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  const { containers = [], initContainers = [], volumes = [] }: Partial<Spec> = spec; // nobody has looked yet whether it is whole
  const lacking = [...initContainers, ...containers].filter((container) => !isMounted(container));
  if (!wanted || lacking.length === 0) return spec;
  const known = volumes.find((volume) => volume.name?.startsWith(volumePrefix));
  const name = known?.name ?? volumePrefix + randomSuffix();
  const mounted = (container: Container): Container =>
    isMounted(container)
      ? container
      : {
          ...container,
          volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }],
        };
  return {
    ...spec,
    containers: containers.map(mounted),
    ...(initContainers.length === 0 ? {} : { initContainers: initContainers.map(mounted) }),
    volumes: known === undefined ? [...volumes, tokenVolume(name)] : volumes,
  };
}

function isMounted({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.some((mount) => mount.mountPath === mountPath);
}

function tokenVolume(name: string): Volume {
  const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: rootCertificates, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
      ],
    },
  };
}
