import type { Pod } from '../../api/index.ts';
import { isSidecar } from '../../api/index.ts';
import { namespaceOf } from '../downward/index.ts';
import { overheadResources, sandboxResources } from '../resources/index.ts';
import type { SandboxConfig } from '../runtime/index.ts';
import { sandboxSeccomp } from '../seccomp/index.ts';
import type { ConfigWarning } from './dns.ts';
import { resolveDns } from './dns.ts';
import { kernelHostname } from './hostname.ts';
import { sandboxLabels } from './labels.ts';
import { namespacesOf } from './namespaces.ts';
import { groupsOf, groupsPolicyOf, toSeLinux } from './security-context.ts';
import type { SandboxInput } from './types.ts';

export interface MadeSandboxConfig {
  readonly config: SandboxConfig;
  /** For events; the pod runs all the same. */
  readonly warnings: readonly ConfigWarning[];
}

/** What the runtime is given to make the sandbox of a pod. Throws an Error whose message is for users. */
export function sandboxConfig(input: SandboxInput): MadeSandboxConfig {
  const { pod, attempt, node } = input;
  const { dns, warnings } = resolveDns(pod, node);
  const config = {
    metadata: {
      name: pod.metadata?.name ?? '',
      namespace: namespaceOf(pod),
      uid: pod.metadata?.uid ?? '',
      attempt,
    },
    hostname: kernelHostname(pod, node.clusterDomain),
    logDirectory: input.logFolder,
    dnsConfig: { servers: [...dns.servers], searches: [...dns.searches], options: [...dns.options] },
    portMappings: portMappings(pod),
    labels: sandboxLabels(pod),
    annotations: { ...pod.metadata?.annotations, ...input.annotations },
    linux: {
      cgroupParent: input.cgroupParent,
      securityContext: sandboxSecurity(input),
      sysctls: sysctlsOf(pod, node.defaultSysctls),
      overhead: overheadResources(pod, node),
      resources: sandboxResources(pod, node),
    },
  };
  return { config, warnings };
}

/** Of all containers that run side by side; also those without a port of the node, as in the reference. */
function portMappings({ spec }: Pod) {
  const sidecars = (spec?.initContainers ?? []).filter(isSidecar);
  const ports = [...sidecars, ...(spec?.containers ?? [])].flatMap(({ ports: own = [] }) => own);
  return ports.map(({ protocol = 'TCP', containerPort, hostPort = 0, hostIP = '' }) => ({
    protocol: protocols[protocol] ?? 0,
    containerPort: containerPort ?? 0,
    hostPort,
    hostIp: hostIP,
  }));
}

/** By the numbers of the CRI. */
const protocols: Readonly<Record<string, 0 | 1 | 2>> = { TCP: 0, UDP: 1, SCTP: 2 };

/**
 * The rights of the pause process. It runs with the runtime's seccomp profile whatever the containers have, and with the
 * group of the pod only beside a user: the runtime refuses a group alone.
 */
function sandboxSecurity({ pod, userIds }: SandboxInput) {
  const context = pod.spec?.securityContext ?? {};
  const { runAsUser, runAsGroup, seLinuxOptions } = context;
  const hasGroup = runAsUser !== undefined && runAsGroup !== undefined;
  return {
    namespaceOptions: namespacesOf(pod, userIds),
    ...(seLinuxOptions === undefined ? {} : { selinuxOptions: toSeLinux(seLinuxOptions) }),
    ...(runAsUser === undefined ? {} : { runAsUser: { value: BigInt(runAsUser) } }),
    ...(hasGroup ? { runAsGroup: { value: BigInt(runAsGroup) } } : {}),
    supplementalGroups: groupsOf(context, []),
    supplementalGroupsPolicy: groupsPolicyOf(context),
    privileged: isPrivileged(pod),
    seccomp: { ...sandboxSeccomp },
  };
}

function isPrivileged({ spec }: Pod): boolean {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return all.some(({ securityContext }) => securityContext?.privileged === true);
}

/** Defaults of the node that the pod's own namespaces do not have would make the sandbox fail. */
function sysctlsOf({ spec }: Pod, defaults: Readonly<Record<string, string>>): Record<string, string> {
  const usable = Object.entries(defaults).filter(([name]) => {
    if (/^net[./]/.test(name)) return spec?.hostNetwork !== true;
    return spec?.hostIPC !== true;
  });
  const own = (spec?.securityContext?.sysctls ?? []).map(
    ({ name = '', value = '' }) => [name, value] as const,
  );
  return Object.fromEntries([...usable, ...own].map(([name, value]) => [withDots(name), value]));
}

/** A name may be written as a path, in which a dot belongs to the name of an interface; the runtime takes the other form. */
function withDots(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
