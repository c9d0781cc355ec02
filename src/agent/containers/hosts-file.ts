import type { Pod } from '../../api/index.ts';
import { hostnameOf } from './hostname.ts';

export interface HostsSettings {
  /** What the node's own `/etc/hosts` says: pods with its network get that. */
  readonly hostFileText: string;
  readonly clusterDomain: string;
}

const ownLines = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** The content of `/etc/hosts` in the containers of a pod. */
export function hostsFile(pod: Pod, podIps: readonly string[], settings: HostsSettings): string {
  const { hostFileText, clusterDomain } = settings;
  const aliases = aliasesOf(pod);
  if (pod.spec?.hostNetwork === true) {
    return `# Kubernetes-managed hosts file (host network).\n${hostFileText}${aliases}`;
  }
  const { name, domain } = hostnameOf(pod, clusterDomain);
  const names = domain === '' ? name : `${name}.${domain}\t${name}`;
  const lines = [...ownLines, ...podIps.map((ip) => `${ip}\t${names}`)];
  return `# Kubernetes-managed hosts file.\n${lines.join('\n')}\n${aliases}`;
}

function aliasesOf({ spec }: Pod): string {
  const aliases = spec?.hostAliases ?? [];
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t'));
  return `\n# Entries added by HostAliases.\n${lines.join('\n')}\n`;
}
