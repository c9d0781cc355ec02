import type { Pod } from '../../api/index.ts';
import type { CriSecurityProfile } from './security-profile.ts';
import { localhost, runtimeDefault, unconfined } from './security-profile.ts';
import type { ContainerRefusal } from './select-profile.ts';
import { configError, requireContainer } from './select-profile.ts';

/**
 * The AppArmor profile that a container must run with; profiles of the node are referred to by name, never read
 * (specification 2.6).
 */
export type SelectedAppArmor =
  | { readonly type: 'RuntimeDefault' | 'Unconfined'; readonly from: AppArmorSource }
  | { readonly type: 'Localhost'; readonly from: AppArmorSource; readonly name: string }
  /** The runtime applies its own default, on a host that has AppArmor. */
  | { readonly type: 'unset' };

type AppArmorSource = 'container' | 'annotation' | 'pod';

/** Whether the host has AppArmor, and the names of the loaded profiles. */
export interface HostAppArmor {
  readonly enabled: boolean;
  /** Undefined when the list cannot be read: then the runtime decides. */
  readonly loaded?: ReadonlySet<string>;
}

export interface ResolvedAppArmor {
  readonly type: 'resolved';
  readonly wanted: SelectedAppArmor;
  /** Unset when neither container nor pod specifies one. */
  readonly profile?: CriSecurityProfile;
}

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** Selects the container's field, else its annotation (a static pod may have only that), else the pod's field. */
function selectAppArmor(pod: Pod, containerName: string): SelectedAppArmor | ContainerRefusal {
  const own = requireContainer(pod, containerName).securityContext?.appArmorProfile;
  if (own !== undefined) return readProfileField(own, 'container');
  const annotation = pod.metadata?.annotations?.[annotationPrefix + containerName];
  if (annotation !== undefined && annotation !== '') return parseAnnotation(annotation);
  const ofPod = pod.spec?.securityContext?.appArmorProfile;
  return ofPod === undefined ? { type: 'unset' } : readProfileField(ofPod, 'pod');
}

function readProfileField(
  { type = '', localhostProfile = '' }: { type?: string; localhostProfile?: string | undefined },
  from: AppArmorSource,
): SelectedAppArmor | ContainerRefusal {
  if (type === 'RuntimeDefault' || type === 'Unconfined') return { type, from };
  if (type !== 'Localhost') return configError(`unknown apparmor profile type: ${JSON.stringify(type)}`);
  if (localhostProfile === '') return configError('missing localhost apparmor profile name');
  return { type, from, name: localhostProfile };
}

function parseAnnotation(value: string): SelectedAppArmor | ContainerRefusal {
  const from = 'annotation';
  if (value === 'runtime/default') return { type: 'RuntimeDefault', from };
  if (value === 'unconfined') return { type: 'Unconfined', from };
  const [, name] = /^localhost\/(.+)$/s.exec(value) ?? [];
  if (name === undefined) return configError(`invalid AppArmor profile name: ${JSON.stringify(value)}`);
  return { type: 'Localhost', from, name };
}

/** Returns the profile in the runtime's form, or why the container cannot be created. */
export function resolveAppArmor(
  pod: Pod,
  containerName: string,
  host: HostAppArmor,
): ResolvedAppArmor | ContainerRefusal {
  const wanted = selectAppArmor(pod, containerName);
  switch (wanted.type) {
    case 'refused':
      return wanted;
    case 'unset':
      return { type: 'resolved', wanted };
    case 'Unconfined':
      return { type: 'resolved', wanted, profile: unconfined };
    case 'RuntimeDefault':
      return host.enabled ? { type: 'resolved', wanted, profile: runtimeDefault } : notEnabled;
    case 'Localhost':
      if (!host.enabled) return notEnabled;
      return host.loaded?.has(wanted.name) === false
        ? refuseContainer(`failed to generate apparmor spec opts: apparmor profile not found ${wanted.name}`)
        : { type: 'resolved', wanted, profile: localhost(wanted.name) };
  }
}

function refuseContainer(message: string): ContainerRefusal {
  return { type: 'refused', reason: 'CreateContainerError', message };
}

const notEnabled = refuseContainer('Cannot enforce AppArmor: AppArmor is not enabled on the host');
