import type { Pod } from '../../api/index.ts';
import { namespaceOf } from '../downward/index.ts';

const maxLabel = 63;
const maxKernelName = 64;

export interface PodHostname {
  /** One label, but for hostnameOverride. */
  readonly name: string;
  /** Empty without a subdomain. */
  readonly domain: string;
}

/** The name of the pod on the network and in its hosts file. */
export function hostnameOf(pod: Pod, clusterDomain: string): PodHostname {
  const { hostname = '', hostnameOverride = '', subdomain = '' } = pod.spec ?? {};
  if (hostnameOverride !== '') return { name: hostnameOverride, domain: '' };
  const name = hostname === '' ? cut(pod.metadata?.name ?? '') : hostname;
  const domain = subdomain === '' ? '' : `${subdomain}.${namespaceOf(pod)}.svc.${clusterDomain}`;
  return { name, domain };
}

/** What the pod's kernel calls itself; empty with the network of the host. Throws when the whole name is too long for it. */
export function kernelHostname(pod: Pod, clusterDomain: string): string {
  if (pod.spec?.hostNetwork === true) return '';
  const { name, domain } = hostnameOf(pod, clusterDomain);
  if (pod.spec?.setHostnameAsFQDN !== true || domain === '') return name;
  const whole = `${name}.${domain}`;
  if (whole.length <= maxKernelName) return whole;
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${whole} is too long (${maxKernelName} characters is the max, ${whole.length} characters requested)`,
  );
}

function cut(name: string): string {
  return name.length <= maxLabel ? name : name.slice(0, maxLabel).replace(/[-.]+$/, '');
}
