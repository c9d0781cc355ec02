import type { Pod } from '../../api/index.ts';

/** Where the profile of a container is specified; `default`: nowhere. */
export type ProfileSource = 'container' | 'pod' | 'default' | 'privileged';

type Specified =
  | { readonly type: 'RuntimeDefault' | 'Unconfined'; readonly from: 'container' | 'pod' }
  | { readonly type: 'Localhost'; readonly from: 'container' | 'pod'; readonly localhostProfile: string }
  | { readonly type: 'Unconfined'; readonly from: 'privileged' };

/** The profile of a container that specifies none: with seccompDefault always the runtime's. */
type Unspecified<SeccompDefault extends boolean> = SeccompDefault extends true
  ? { readonly type: 'RuntimeDefault'; readonly from: 'default' }
  : { readonly type: 'Unconfined'; readonly from: 'default' };

/** The profile that a container must run with. */
export type SelectedSeccomp<SeccompDefault extends boolean = boolean> =
  | Specified
  | Unspecified<SeccompDefault>;

/** Why a container cannot be created, as in its status (state.waiting). */
export interface ContainerRefusal {
  readonly type: 'refused';
  readonly reason: 'CreateContainerConfigError' | 'CreateContainerError';
  readonly message: string;
}

type ContainerOf = Pick<
  NonNullable<NonNullable<Pod['spec']>['containers']>[number],
  'name' | 'securityContext'
>;

/** All containers of a pod, in the order in which they are started. */
export function containersOf({ spec }: Pod): readonly ContainerOf[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers];
}

/** Throws when the pod has no such container, which is an error of the caller. */
export function requireContainer(pod: Pod, name: string): ContainerOf {
  const found = containersOf(pod).find((each) => each.name === name);
  if (found === undefined) throw new Error(`the pod has no container ${JSON.stringify(name)}`);
  return found;
}

/**
 * Selects the profile of a container, init container or ephemeral container (specification 2.8): its own, else its pod's,
 * else the default that `seccompDefault` selects. Privileged containers run unconfined, as in the runtimes. Annotations are
 * ignored, as in the reference since 1.27.
 */
export function selectSeccomp<SeccompDefault extends boolean>(
  pod: Pod,
  containerName: string,
  options: { readonly seccompDefault: SeccompDefault },
): SelectedSeccomp<SeccompDefault> | ContainerRefusal;
export function selectSeccomp(
  pod: Pod,
  containerName: string,
  { seccompDefault }: { readonly seccompDefault: boolean },
): SelectedSeccomp | ContainerRefusal {
  const { securityContext: own } = requireContainer(pod, containerName);
  const wanted =
    readProfileField(own?.seccompProfile, 'container') ??
    readProfileField(pod.spec?.securityContext?.seccompProfile, 'pod') ??
    resolveDefault(seccompDefault);
  if (wanted.type === 'refused' || own?.privileged !== true) return wanted;
  return { type: 'Unconfined', from: 'privileged' };
}

/** The Localhost profile of a container, its own or its pod's; undefined when it has another type or none. */
export function findLocalhostProfile(
  { spec }: Pod,
  { securityContext: own }: ContainerOf,
): string | undefined {
  if (own?.privileged === true) return undefined;
  const wanted =
    readProfileField(own?.seccompProfile, 'container') ??
    readProfileField(spec?.securityContext?.seccompProfile, 'pod');
  return wanted?.type === 'Localhost' ? wanted.localhostProfile : undefined;
}

function resolveDefault(seccompDefault: boolean): Unspecified<true> | Unspecified<false> {
  return seccompDefault
    ? { type: 'RuntimeDefault', from: 'default' }
    : { type: 'Unconfined', from: 'default' };
}

interface ProfileField {
  type?: string;
  localhostProfile?: string | undefined;
}

/** An unknown type is refused: the reference would run the container unconfined. */
function readProfileField(
  profile: ProfileField | undefined,
  from: 'container' | 'pod',
): Specified | ContainerRefusal | undefined {
  if (profile === undefined) return undefined;
  const { type = '', localhostProfile = '' } = profile;
  if (type === 'RuntimeDefault' || type === 'Unconfined') return { type, from };
  if (type !== 'Localhost') return configError(`seccompProfile type ${JSON.stringify(type)} is not known`);
  if (localhostProfile === '')
    return configError('localhostProfile must be set if seccompProfile type is Localhost.');
  return { type, from, localhostProfile };
}

export const configError = (message: string): ContainerRefusal => ({
  type: 'refused',
  reason: 'CreateContainerConfigError',
  message,
});

const seccompAnnotations = [
  'seccomp.security.alpha.kubernetes.io/pod',
  'container.seccomp.security.alpha.kubernetes.io/',
];

/** The annotations of a pod that used to select profiles and are ignored now. */
export function ignoredSeccompAnnotations(pod: Pod): readonly string[] {
  const names = Object.keys(pod.metadata?.annotations ?? {});
  return names.filter((name) => seccompAnnotations.some((each) => name.startsWith(each)));
}
