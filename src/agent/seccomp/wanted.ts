import type { Pod } from '../../api/index.ts';

/** Where it is said which profile a container gets; `default`: nowhere. */
export type Whence = 'container' | 'pod' | 'default' | 'privileged';

type Stated =
  | { readonly type: 'RuntimeDefault' | 'Unconfined'; readonly from: 'container' | 'pod' }
  | { readonly type: 'Localhost'; readonly from: 'container' | 'pod'; readonly localhostProfile: string }
  | { readonly type: 'Unconfined'; readonly from: 'privileged' };

/** What a container gets of which nothing is said: with seccompDefault the runtime's profile, and nothing else. */
type Unset<SeccompDefault extends boolean> = SeccompDefault extends true
  ? { readonly type: 'RuntimeDefault'; readonly from: 'default' }
  : { readonly type: 'Unconfined'; readonly from: 'default' };

/** The profile that a container is to run with. */
export type WantedSeccomp<SeccompDefault extends boolean = boolean> = Stated | Unset<SeccompDefault>;

/** Why a container cannot be made, as its status tells it (state.waiting). */
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

/** A pod without such a container is an error of the caller's. */
export function containerOf(pod: Pod, name: string): ContainerOf {
  const found = containersOf(pod).find((each) => each.name === name);
  if (found === undefined) throw new Error(`the pod has no container ${JSON.stringify(name)}`);
  return found;
}

/**
 * Which profile a container of any sort is to run with (specification 2.8): its own, else its pod's, else what
 * `seccompDefault` says. Privileged containers run unconfined, as runtimes have it. Annotations count nothing, as in the
 * reference since 1.27.
 */
export function wantedSeccomp<SeccompDefault extends boolean>(
  pod: Pod,
  containerName: string,
  options: { readonly seccompDefault: SeccompDefault },
): WantedSeccomp<SeccompDefault> | ContainerRefusal;
export function wantedSeccomp(
  pod: Pod,
  containerName: string,
  { seccompDefault }: { readonly seccompDefault: boolean },
): WantedSeccomp | ContainerRefusal {
  const { securityContext: own } = containerOf(pod, containerName);
  const wanted =
    stated(own?.seccompProfile, 'container') ??
    stated(pod.spec?.securityContext?.seccompProfile, 'pod') ??
    whenUnset(seccompDefault);
  if (wanted.type === 'refused' || own?.privileged !== true) return wanted;
  return { type: 'Unconfined', from: 'privileged' };
}

/** The file that a container of the pod is to run with, its own or its pod's; undefined where it is none. */
export function localhostProfileOf({ spec }: Pod, { securityContext: own }: ContainerOf): string | undefined {
  if (own?.privileged === true) return undefined;
  const wanted =
    stated(own?.seccompProfile, 'container') ?? stated(spec?.securityContext?.seccompProfile, 'pod');
  return wanted?.type === 'Localhost' ? wanted.localhostProfile : undefined;
}

function whenUnset(seccompDefault: boolean): Unset<true> | Unset<false> {
  return seccompDefault
    ? { type: 'RuntimeDefault', from: 'default' }
    : { type: 'Unconfined', from: 'default' };
}

interface ProfileField {
  type?: string;
  localhostProfile?: string | undefined;
}

/** A type that is not known is refused: the reference would run the container unconfined. */
function stated(
  profile: ProfileField | undefined,
  from: 'container' | 'pod',
): Stated | ContainerRefusal | undefined {
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

/** The annotations of a pod that once chose profiles and count nothing any more. */
export function ignoredSeccompAnnotations(pod: Pod): readonly string[] {
  const names = Object.keys(pod.metadata?.annotations ?? {});
  return names.filter((name) => seccompAnnotations.some((each) => name.startsWith(each)));
}
