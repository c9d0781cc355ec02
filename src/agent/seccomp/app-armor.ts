import type { Pod } from '../../api/index.ts';
import type { CriSecurityProfile } from './security-profile.ts';
import { localhost, runtimeDefault, unconfined } from './security-profile.ts';
import type { ContainerRefusal } from './wanted.ts';
import { configError, containerOf } from './wanted.ts';

/** The AppArmor profile that a container is to run with; profiles of the node are named, never read (specification 2.6). */
export type WantedAppArmor =
  | { readonly type: 'RuntimeDefault' | 'Unconfined'; readonly from: AppArmorWhence }
  | { readonly type: 'Localhost'; readonly from: AppArmorWhence; readonly name: string }
  /** The runtime's own, on a host that has AppArmor. */
  | { readonly type: 'unset' };

type AppArmorWhence = 'container' | 'annotation' | 'pod';

/** What the host has: the names of the profiles that are loaded, or why they are not known. */
export interface HostAppArmor {
  readonly enabled: boolean;
  /** Undefined where they cannot be seen: then the runtime decides. */
  readonly loaded?: ReadonlySet<string>;
}

export interface ResolvedAppArmor {
  readonly type: 'resolved';
  readonly wanted: WantedAppArmor;
  /** Unset where nothing is said. */
  readonly profile?: CriSecurityProfile;
}

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** The container's field, else its annotation (a static pod may have nothing else), else the pod's field. */
export function wantedAppArmor(pod: Pod, containerName: string): WantedAppArmor | ContainerRefusal {
  const own = containerOf(pod, containerName).securityContext?.appArmorProfile;
  if (own !== undefined) return stated(own, 'container');
  const annotation = pod.metadata?.annotations?.[annotationPrefix + containerName];
  if (annotation !== undefined && annotation !== '') return annotated(annotation);
  const ofPod = pod.spec?.securityContext?.appArmorProfile;
  return ofPod === undefined ? { type: 'unset' } : stated(ofPod, 'pod');
}

function stated(
  { type = '', localhostProfile = '' }: { type?: string; localhostProfile?: string | undefined },
  from: AppArmorWhence,
): WantedAppArmor | ContainerRefusal {
  if (type === 'RuntimeDefault' || type === 'Unconfined') return { type, from };
  if (type !== 'Localhost') return configError(`unknown apparmor profile type: ${JSON.stringify(type)}`);
  if (localhostProfile === '') return configError('missing localhost apparmor profile name');
  return { type, from, name: localhostProfile };
}

function annotated(value: string): WantedAppArmor | ContainerRefusal {
  const from = 'annotation';
  if (value === 'runtime/default') return { type: 'RuntimeDefault', from };
  if (value === 'unconfined') return { type: 'Unconfined', from };
  const [, name] = /^localhost\/(.+)$/s.exec(value) ?? [];
  if (name === undefined) return configError(`invalid AppArmor profile name: ${JSON.stringify(value)}`);
  return { type: 'Localhost', from, name };
}

/** The profile as the runtime takes it, or why the container cannot be made. */
export function resolveAppArmor(
  pod: Pod,
  containerName: string,
  host: HostAppArmor,
): ResolvedAppArmor | ContainerRefusal {
  const wanted = wantedAppArmor(pod, containerName);
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
        ? refused(`failed to generate apparmor spec opts: apparmor profile not found ${wanted.name}`)
        : { type: 'resolved', wanted, profile: localhost(wanted.name) };
  }
}

function refused(message: string): ContainerRefusal {
  return { type: 'refused', reason: 'CreateContainerError', message };
}

const notEnabled = refused('Cannot enforce AppArmor: AppArmor is not enabled on the host');
