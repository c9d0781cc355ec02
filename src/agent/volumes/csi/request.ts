import type { Pod, Secret } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { namespaceOf } from '../../downward/index.ts';
import type { PodObjects } from '../../objects/index.ts';
import { untilKnown } from '../../objects/index.ts';
import type { PodTokens } from '../../tokens/index.ts';
import type { DriverRules } from './rules.ts';
import type { DriverAbility, VolumeCapability } from './types.ts';
import type { CsiVolume, SecretName } from './volume.ts';

type Texts = Readonly<Record<string, string>>;

/** The numbers of access modes; the second where the driver tells one writer on a node from several. */
const accessModes: Readonly<Record<string, readonly [number, number]>> = {
  ReadWriteOnce: [1, 7],
  ReadOnlyMany: [3, 3],
  ReadWriteMany: [5, 5],
  ReadWriteOncePod: [1, 6],
};

export function capabilityOf(
  { accessModes: [mode = 'ReadWriteOnce'], isBlock, fsType, mountOptions: flags, pod }: CsiVolume,
  abilities: ReadonlySet<DriverAbility>,
): VolumeCapability {
  const [usual, exact] = (Object.hasOwn(accessModes, mode) ? accessModes[mode] : undefined) ?? [0, 0];
  const fsGroup = pod.spec?.securityContext?.fsGroup;
  const group = fsGroup !== undefined && abilities.has('mount-group') ? String(fsGroup) : '';
  return {
    accessMode: abilities.has('several-writers') ? exact : usual,
    mount: isBlock ? undefined : { fsType, flags, group },
  };
}

const prefix = 'csi.storage.k8s.io';

/** What a driver learns of the pod when it publishes a volume. */
export function podInfo({ pod, lifecycle }: CsiVolume, { wantsPodInfo }: DriverRules): Texts {
  if (!wantsPodInfo) return {};
  return {
    [`${prefix}/pod.name`]: pod.metadata?.name ?? '',
    [`${prefix}/pod.namespace`]: namespaceOf(pod),
    [`${prefix}/pod.uid`]: pod.metadata?.uid ?? '',
    [`${prefix}/serviceAccount.name`]: pod.spec?.serviceAccountName ?? '',
    [`${prefix}/ephemeral`]: String(lifecycle === 'Ephemeral'),
  };
}

/** The tokens of the pod's account that the driver wants; nothing where it wants none. */
export async function tokensFor(
  pod: Pod,
  { tokens: questions }: DriverRules,
  tokens: PodTokens,
  signal: AbortSignal,
): Promise<Texts> {
  if (questions.length === 0) return {};
  const given: Record<string, { token: string; expirationTimestamp: string }> = {};
  for (const question of questions) {
    const { token, expiresMs } = await tokens.get(pod, question, signal);
    given[question.audience] = { token, expirationTimestamp: formatTime(expiresMs) };
  }
  return { [`${prefix}/serviceAccount.tokens`]: JSON.stringify(given) };
}

/** What secrets of drivers are read with. */
export interface SecretSource {
  readonly objects: PodObjects;
  readonly clock: Clock;
}

/** How long a first answer of the API is waited for. */
const secretTimeoutMs = 10_000;

/**
 * The content of a Secret for a driver, which is followed until the pod is released: one that appears or changes wakes the pod.
 * `what` names the reference in the message.
 */
export async function readSecret(
  what: string,
  secret: SecretName | undefined,
  podUid: string,
  { objects, clock }: SecretSource,
  signal: AbortSignal,
): Promise<Texts> {
  if (secret === undefined) return {};
  const { namespace, name } = secret;
  objects.follow(podUid, { kind: 'Secret', namespace, name });
  await untilKnown({
    isKnown: () => objects.secret(namespace, name).state !== 'waiting',
    onChange: (listener) => objects.onChange(listener),
    ...{ timeoutMs: secretTimeoutMs, clock, signal },
  });
  signal.throwIfAborted();
  const known = objects.secret(namespace, name);
  if (known.state === 'present') return contentOf(known.object);
  const why = known.state === 'absent' ? `secrets ${JSON.stringify(name)} not found` : known.message;
  const cause = `kubernetes.io/csi: failed to find the secret ${name} in the namespace ${namespace} with error: ${why}`;
  throw new Error(`fetching ${what} ${namespace}/${name} failed: ${cause}`);
}

function contentOf({ data = {} }: Secret): Texts {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}
