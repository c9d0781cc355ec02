import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { list as schemaList, string } from '../../api/schema/index.ts';
import { isNamespacedSysctl, isSysctlPattern } from '../pods/admission/index.ts';
import type { Fields, Settings } from './field.ts';
import { section } from './field.ts';
import {
  bool,
  choice,
  duration,
  integer,
  list,
  listOf,
  map,
  path,
  quote,
  text,
  textOf,
} from './field-types.ts';

/* How pods run on this node. The names and defaults are the reference's. */

/** The kernel's own limit for the numbers of processes. */
const maxPids = 4_194_304;

const network = {
  clusterDomain: text({
    doc: 'The DNS domain of the cluster: pods search for names in `NAMESPACE.svc.DOMAIN`, `svc.DOMAIN` and `DOMAIN`.',
    range: 'a DNS name',
    example: 'cluster.local',
    needsRestart: true,
    check: (plain) =>
      isDnsName(textOf(plain)) ? undefined : `${quote(plain)} is not a DNS name of lower case`,
  }),
  clusterDNS: list(string, (items) => items.map(textOf), {
    doc: 'The IP addresses of the DNS servers of the cluster, for pods with the policy `ClusterFirst`. Without any, such pods get the servers of the node.',
    range: 'IP addresses',
    example: '[10.96.0.10]',
    needsRestart: true,
    check: (plain) => findInList(plain, (each) => (isIP(each) === 0 ? 'is not an IP address' : undefined)),
  }),
  resolvConf: path({
    doc: 'The file with the DNS settings of the node, for pods with the policy `Default`. Empty: such pods get none.',
    default: '/etc/resolv.conf',
    keepsZero: true,
    needsRestart: true,
  }),
  podCIDR: text({
    doc: 'The addresses for pods, of an agent without a control plane; otherwise they come from the Node.',
    range: 'up to two ranges such as 10.1.0.0/24, with a comma between them',
    needsRestart: true,
    check: (plain) => findInList(textOf(plain).split(','), findRangeFault),
  }),
} as const satisfies Fields;

const sysctls = {
  allowedUnsafeSysctls: list(string, (items) => items.map(textOf), {
    doc: 'Kernel parameters that pods may set beside the safe ones; a name may end in `*`. Only those that are separate for each pod.',
    range: 'names such as `net.core.somaxconn` or `kernel.msg*`',
    needsRestart: true,
    check: (plain) => findInList(plain, findPatternFault),
  }),
  defaultPodSysctls: map(undefined, {
    doc: 'Kernel parameters of every pod that does not set them itself.',
    range: 'by name, as text',
    example: '{net.ipv4.ip_unprivileged_port_start: "0"}',
    needsRestart: true,
    checkKey: (name) =>
      isSysctlPattern(name) && !name.endsWith('*') && isNamespacedSysctl(name)
        ? undefined
        : 'is no kernel parameter that is separate for each pod',
    readEntries: (entries) =>
      Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, textOf(value)])),
  }),
} as const satisfies Fields;

const cgroups = {
  cgroupRoot: text({
    doc: 'The cgroup below which those of pods are made. Empty: that of the machine.',
    range: 'an absolute path in the tree of cgroups',
    needsRestart: true,
    check: (plain) =>
      isAbsolute(textOf(plain)) ? undefined : `${quote(plain)} is no absolute path such as /nodes`,
  }),
  cgroupDriver: choice(['cgroupfs', 'systemd'], {
    doc: 'Who makes cgroups, where the runtime does not say what it uses: the agent itself, or systemd.',
    default: 'cgroupfs',
    needsRestart: true,
  }),
  cpuCFSQuota: bool({
    doc: 'Whether the CPU limits of containers are enforced.',
    default: true,
    needsRestart: true,
  }),
  cpuCFSQuotaPeriod: duration('cpuCfsQuotaPeriodMs', ['1ms', '1s'], {
    doc: 'The period in which the kernel counts the CPU time of a container that has a limit.',
    default: '100ms',
    needsRestart: true,
  }),
  podPidsLimit: integer(-1, maxPids, {
    doc: 'How many processes and threads a pod may have. -1: as many as the node.',
    default: -1,
    needsRestart: true,
  }),
} as const satisfies Fields;

/** What the machine must not be. The reference demands both unless it is configured otherwise. */
const machine = {
  failSwapOn: bool({
    doc: 'Whether the agent refuses to start where swap is in use (exit code 3); in the reference it does by default. Pods get no swap either way.',
    default: false,
    needsRestart: true,
  }),
  failCgroupV1: bool({
    doc: 'Whether the agent refuses to start on a machine with version 1 of control groups (exit code 3); in the reference it does by default.',
    default: false,
    needsRestart: true,
  }),
  singleProcessOOMKill: bool({
    doc: 'Whether the kernel kills a single process of a container that is out of memory, instead of all of it. Version 1 of control groups knows nothing else.',
    default: false,
    needsRestart: true,
  }),
} as const satisfies Fields;

const restarts = {
  crashLoopBackOff: section({
    doc: 'How long a container that keeps ending waits before it is started again.',
    needsRestart: true,
    fields: {
      maxContainerRestartPeriod: duration('maxRestartWaitMs', ['1s', '300s'], {
        doc: 'The longest such wait. Waits begin at 10s, or at this where it is shorter, and double.',
        default: '5m',
      }),
    },
  }),
  podsPerCore: integer(0, 1_000_000, {
    doc: 'How many pods may run for each CPU, within `maxPods`. 0: however many.',
    default: 0,
    keepsZero: true,
    needsRestart: true,
  }),
} as const satisfies Fields;

const volumes = {
  syncFrequency: duration('volumeLookMs', ['1s', '24h'], {
    doc: 'How often a volume is published again to its pod, where its driver wants that (`requiresRepublish`), and how often it is looked whether a volume has grown. Pods themselves are looked at when something changes.',
    default: '1m',
    needsRestart: true,
  }),
} as const satisfies Fields;

const minIdsPerPod = 65_536;

const users = {
  userNamespaces: section({
    doc: 'The ids of pods with user namespaces of their own (`hostUsers: false`).',
    needsRestart: true,
    fields: {
      idsPerPod: integer(minIdsPerPod, 2 ** 31 - minIdsPerPod, {
        doc: 'How many ids of users, and of groups, such a pod gets. Its folder keeps them, so a change is for new pods.',
        range: 'a multiple of 65536',
        default: minIdsPerPod,
        check: (plain) =>
          Number(plain) >= minIdsPerPod && Number(plain) % minIdsPerPod === 0
            ? undefined
            : `must be a multiple of ${minIdsPerPod}, not ${String(plain)}`,
      }),
    },
  }),
} as const satisfies Fields;

const urlPods = {
  staticPodURL: text({
    doc: 'Where manifests of static pods are fetched: a Pod or a list of pods, as JSON or YAML ([static-pods.md](static-pods.md)). Empty: nowhere.',
    range: 'an http or https URL without a password in it',
    needsRestart: true,
    check: (plain) => findUrlFault(textOf(plain)),
  }),
  staticPodURLHeader: map(undefined, {
    doc: 'Headers of that request, such as credentials; they are not sent to another server, and never printed.',
    of: schemaList(string),
    range: 'by name, a list of values',
    isSecret: true,
    needsRestart: true,
    checkKey: (name) =>
      /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) ? undefined : 'is no name of a header',
    checkEntry: (values) =>
      listOf(values).every((each) => /^[\t\x20-\x7e]*$/.test(textOf(each)))
        ? undefined
        : 'must be printable text',
    readEntries: (entries) =>
      Object.fromEntries(Object.entries(entries).map(([name, values]) => [name, listOf(values).map(textOf)])),
  }),
  httpCheckFrequency: duration('urlIntervalMs', ['100ms', '24h'], {
    doc: 'How often that URL is asked.',
    default: '20s',
    needsRestart: true,
  }),
} as const satisfies Fields;

export const podFields = {
  ...network,
  ...sysctls,
  ...cgroups,
  ...machine,
  ...restarts,
  ...volumes,
  ...users,
  ...urlPods,
} as const;

/** How pods run on this node. */
export interface PodSettings {
  readonly clusterDomain: string;
  readonly clusterDns: readonly string[];
  /** Absolute; empty: pods get no DNS settings of the node. */
  readonly resolvConf: string;
  /** For an agent without a control plane; one range for each family, or none. */
  readonly podCidrs: readonly string[];
  /** Names, or beginnings of names that end in `*`. */
  readonly allowedUnsafeSysctls: readonly string[];
  readonly defaultSysctls: Readonly<Record<string, string>>;
  readonly cgroups: {
    /** Absolute; `/` is the root of the tree. */
    readonly root: string;
    readonly driver: 'cgroupfs' | 'systemd';
  };
  /** What the machine must not be, for the agent to start. */
  readonly refuses: { readonly swap: boolean; readonly cgroupV1: boolean };
  readonly killsSingleProcess: boolean;
  readonly cpuQuota: { readonly isEnforced: boolean; readonly periodUs: number };
  /** Undefined: not limited. */
  readonly maxPids: number | undefined;
  readonly maxRestartWaitMs: number;
  /** Between two looks at a volume that is in use. */
  readonly volumeLookMs: number;
  /** Undefined: only `maxPods` limits them. */
  readonly podsPerCore: number | undefined;
  /** For pods with user namespaces of their own. */
  readonly idsPerPod: number;
  /** Undefined: no manifests are fetched. */
  readonly url: UrlPodSettings | undefined;
}

export interface UrlPodSettings {
  readonly url: string;
  /** May hold credentials. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly intervalMs: number;
}

export function toPodSettings(values: Settings<typeof podFields>): PodSettings {
  const { podCIDR, podPidsLimit, podsPerCore, cpuCfsQuotaPeriodMs, staticPodURL } = values;
  return Object.freeze({
    clusterDomain: values.clusterDomain,
    clusterDns: values.clusterDNS,
    resolvConf: values.resolvConf,
    podCidrs: podCIDR === '' ? [] : podCIDR.split(','),
    allowedUnsafeSysctls: values.allowedUnsafeSysctls,
    defaultSysctls: values.defaultPodSysctls,
    cgroups: {
      root: values.cgroupRoot === '' ? '/' : values.cgroupRoot,
      driver: values.cgroupDriver,
    },
    refuses: { swap: values.failSwapOn, cgroupV1: values.failCgroupV1 },
    killsSingleProcess: values.singleProcessOOMKill,
    cpuQuota: { isEnforced: values.cpuCFSQuota, periodUs: Math.round(cpuCfsQuotaPeriodMs * 1000) },
    maxPids: podPidsLimit > 0 ? podPidsLimit : undefined,
    maxRestartWaitMs: values.crashLoopBackOff.maxRestartWaitMs,
    volumeLookMs: values.volumeLookMs,
    podsPerCore: podsPerCore > 0 ? podsPerCore : undefined,
    idsPerPod: values.userNamespaces.idsPerPod,
    url:
      staticPodURL === ''
        ? undefined
        : { url: staticPodURL, headers: values.staticPodURLHeader, intervalMs: values.urlIntervalMs },
  });
}

/** The first item with a fault, and the fault. */
function findInList(plain: unknown, findFault: (item: string) => string | undefined): string | undefined {
  for (const item of listOf(plain)) {
    const fault = findFault(textOf(item));
    if (fault !== undefined) return `${quote(item)} ${fault}`;
  }
  return undefined;
}

function findPatternFault(pattern: string): string | undefined {
  if (!isSysctlPattern(pattern)) return 'is not the name of a kernel parameter';
  return isNamespacedSysctl(pattern) ? undefined : 'is not known to be separate for each pod';
}

function findRangeFault(range: string): string | undefined {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)
    ? undefined
    : 'is no range of addresses such as 10.1.0.0/24';
}

const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function isDnsName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => dnsLabel.test(label));
}

/** It does not quote the URL, which may have a password in it. */
function findUrlFault(url: string): string | undefined {
  if (url === '') return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol))
    return 'must be an http or https URL';
  return parsed.username === '' && parsed.password === ''
    ? undefined
    : 'must not have a user or password in it; set the header Authorization in staticPodURLHeader';
}
