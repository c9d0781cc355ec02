import type { Pod, ServiceAccount } from '../../../api/index.ts';

type Spec = NonNullable<Pod['spec']>;
type Containers = readonly Pick<
  NonNullable<Spec['ephemeralContainers']>[number],
  'name' | 'env' | 'envFrom'
>[];

const annotation = 'kubernetes.io/enforce-mountable-secrets';
/** What the reference takes for true. */
const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** Returns the first secret that the pod names and its account may not use; undefined when the account does not limit them. */
export function explainSecretRefusal({ spec }: Pod, account: ServiceAccount): string | undefined {
  const { annotations = {}, name: accountName = '' } = account.metadata ?? {};
  if (spec === undefined || !trueTexts.has(annotations[annotation] ?? '')) return undefined;
  const { secrets = [], imagePullSecrets = [] } = account;
  const mountable = new Set(secrets.map(({ name }) => name));
  const pulling = new Set(imagePullSecrets.map(({ name }) => name));
  const denied = `is not allowed because service account ${accountName} does not reference that`;
  for (const { secret } of spec.volumes ?? []) {
    if (secret === undefined || mountable.has(secret.secretName)) continue;
    return `volume with secret.secretName="${secret.secretName ?? ''}" ${denied} secret`;
  }
  const reference =
    findUnmountable('init container', spec.initContainers ?? [], mountable) ??
    findUnmountable('container', spec.containers, mountable) ??
    findUnmountable('ephemeral container', spec.ephemeralContainers ?? [], mountable);
  if (reference !== undefined) return `${reference} ${denied} secret`;
  const pulls = spec.imagePullSecrets ?? [];
  const index = pulls.findIndex(({ name }) => !pulling.has(name));
  const name = pulls[index]?.name ?? '';
  return index < 0 ? undefined : `imagePullSecrets[${index}].name="${name}" ${denied} imagePullSecret`;
}

function findUnmountable(
  what: string,
  containers: Containers,
  mountable: ReadonlySet<string | undefined>,
): string | undefined {
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef;
      if (secret === undefined || mountable.has(secret.name)) continue;
      return `${what} ${name} with envVar ${variable} referencing secret.secretName="${secret.name ?? ''}"`;
    }
    for (const { secretRef } of envFrom) {
      if (secretRef === undefined || mountable.has(secretRef.name)) continue;
      return `${what} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}"`;
    }
  }
  return undefined;
}
