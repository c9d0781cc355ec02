import type { Pod } from '../../../api/index.ts';
import type { Refusal } from './types.ts';

/*
 * Kernel parameters (sysctls) of pods. The kernel keeps some of them separate for each namespace; only these may be set for a
 * pod, and of these only the safe ones unless the node allows more. Names may be written with slashes, as in the reference.
 */

/** Those that cannot harm another pod, by the reference's list as of its release 1.36 (Linux 6.x has all of them). */
const safeSysctls: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
];

const ipcPrefixes: readonly string[] = ['kernel.shm', 'kernel.msg', 'fs.mqueue.'];

const maxNameLength = 253;
const segment = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?';
const patternForm = new RegExp(
  `^(?:${segment}(?:[./]${segment})*[./]?[-_a-z0-9]*\\*|${segment}(?:[./]${segment})*|\\*)$`,
);

/** Whether the text is the name of a parameter, or the beginning of names and `*`. */
export function isSysctlPattern(text: string): boolean {
  return text.length <= maxNameLength && patternForm.test(text);
}

/** Whether the kernel keeps the parameters of that name, or of that pattern, separate for each pod. */
export function isNamespacedSysctl(pattern: string): boolean {
  return namespaceOf(toDots(pattern).replace(/\*$/, '')) !== undefined;
}

/** Returns why a parameter of the pod is not allowed. `unsafe` are the names and patterns that the node allows in addition. */
export function findSysctlRefusal({ spec }: Pod, unsafe: readonly string[]): Refusal | undefined {
  const allowed = [...safeSysctls, ...unsafe.map(toDots)];
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const fault = findFault(toDots(name), allowed, spec ?? {});
    if (fault !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${fault}` };
  }
  return undefined;
}

interface HostNamespaces {
  readonly hostNetwork?: boolean;
  readonly hostIPC?: boolean;
}

function findFault(
  name: string,
  allowed: readonly string[],
  { hostNetwork, hostIPC }: HostNamespaces,
): string | undefined {
  const pattern = allowed.find(
    (each) => each === name || (each.endsWith('*') && name.startsWith(each.slice(0, -1))),
  );
  if (pattern === undefined) return `${JSON.stringify(name)} not allowlisted`;
  const namespace = namespaceOf(pattern.replace(/\*$/, ''));
  const isOfHost = (namespace === 'ipc' && hostIPC) || (namespace === 'net' && hostNetwork);
  return isOfHost ? `${JSON.stringify(name)} not allowed with host ${namespace} enabled` : undefined;
}

function namespaceOf(name: string): 'ipc' | 'net' | undefined {
  if (name === 'kernel.sem' || ipcPrefixes.some((prefix) => name.startsWith(prefix))) return 'ipc';
  return name.startsWith('net.') ? 'net' : undefined;
}

/** With a slash as the first separator, slashes separate and dots belong to names, such as those of interfaces. */
function toDots(name: string): string {
  const first = name.search(/[./]/);
  if (first === -1 || name[first] === '.') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
