import type { EffectiveConfig } from '../../config/index.ts';
import { formatCount, formatList } from '../format.ts';
import type { Host } from '../host.ts';
import { parseMounts } from '../mounts.ts';
import type { RuntimeReport } from '../runtime-report.ts';
import type { Check, Finding } from '../types.ts';
import { failed, notApplicable, ok, unknown, warning } from '../types.ts';

/* What pods need of the machine and of the runtime, beside what stands under other topics. */

interface PodCheckOptions {
  readonly runtime: () => Promise<RuntimeReport>;
  /** Undefined where the agent would not start. */
  readonly config: EffectiveConfig | undefined;
  /** Whether a file states cgroupDriver. */
  readonly isDriverStated: boolean;
}

export function createPodChecks({ runtime, config, isDriverStated }: PodCheckOptions): Check[] {
  return [
    {
      id: 'pod-network',
      topic: 'pods',
      title: 'network of pods',
      needed: 'a network plugin (CNI) that the runtime has loaded',
      run: async (host, signal) => judgeNetwork(await runtime(), host, signal),
    },
    {
      id: 'cgroup-driver',
      topic: 'pods',
      title: 'who makes the cgroups of pods',
      needed: 'the same as of the machine: systemd where that runs',
      run: async (host) => judgeDriver(host, await runtime(), isDriverStated ? config : undefined),
    },
    {
      id: 'pod-cgroups',
      topic: 'pods',
      title: 'cgroups of pods',
      needed: 'a tree that can be written, with cpu, memory and pids below cgroupRoot',
      run: (host) => judgeTree(host, config),
    },
    {
      id: 'mount-tools',
      topic: 'pods',
      title: 'programs that mount volumes',
      needed: 'mount and umount of util-linux',
      run: judgeMountTools,
    },
  ];
}

const cniFolder = '/etc/cni/net.d';
const maxEntries = 1000;

async function judgeNetwork(
  { fault, troubles }: RuntimeReport,
  host: Host,
  signal: AbortSignal,
): Promise<Finding> {
  if (fault !== undefined) return unknown('the runtime could not be asked');
  const trouble = troubles?.find(({ type }) => type === 'NetworkReady');
  if (trouble === undefined) return ok('the runtime says that it is ready');
  const found = `the runtime has none: ${trouble.text}; pods wait with NetworkNotReady`;
  const looked = await host.inspectPath({ path: cniFolder, entries: maxEntries }, signal);
  const names = 'found' in looked ? (looked.found.entries ?? []).map(({ name }) => name) : [];
  if ('fault' in looked && looked.fault !== 'ENOENT')
    return failed(found, `look into ${cniFolder} and into the log of the runtime`);
  if (names.some((name) => /\.(?:conf|conflist|json)$/.test(name)))
    return failed(
      found,
      `there is a configuration in ${cniFolder}: look for its programs (/opt/cni/bin) and into the log of the runtime`,
    );
  return failed(found, `put the configuration of a network plugin (CNI) into ${cniFolder}; there is none`);
}

function judgeDriver(
  host: Host,
  { fault, cgroupDriver: used }: RuntimeReport,
  stated: EffectiveConfig | undefined,
): Finding {
  if (fault !== undefined) return unknown('the runtime could not be asked');
  const configured = stated?.pods.cgroups.driver;
  const runsSystemd = host.names('/run/systemd/system').length > 0 || readInit(host) === 'systemd';
  if (used === undefined)
    return configured === undefined
      ? warning('the runtime does not tell', 'set cgroupDriver to what the runtime uses; default cgroupfs')
      : ok(`the runtime does not tell; the agent uses cgroupDriver: ${configured}`);
  if (used === 'systemd' && !runsSystemd)
    return failed(
      'the runtime uses systemd, which does not run here: no pod can start',
      'set SystemdCgroup = false in the configuration of the runtime, and restart it',
    );
  if (configured !== undefined && configured !== used)
    return warning(
      `the runtime uses ${used}, and so does the agent; cgroupDriver: ${configured} does not count`,
      `set cgroupDriver: ${used}, or change the runtime (SystemdCgroup) and restart it`,
    );
  if (used === 'cgroupfs' && runsSystemd)
    return warning(
      'the runtime uses cgroupfs beside systemd: two programs manage one tree',
      'set SystemdCgroup = true in the configuration of the runtime while no pods run, and restart it',
    );
  return ok(`the runtime uses ${used}, and so does the agent`);
}

const readInit = (host: Host): string => (host.read('/proc/1/comm') ?? '').trim();

const treeRoot = '/sys/fs/cgroup';
const controllers = ['cpu', 'memory', 'pids'] as const;

function judgeTree(host: Host, config: EffectiveConfig | undefined): Finding {
  const cgroupRoot = config?.pods.cgroups.root ?? '/';
  const mountinfo = host.read('/proc/self/mountinfo');
  if (mountinfo === undefined) return unknown('/proc/self/mountinfo cannot be read');
  const mounts = parseMounts(mountinfo).filter(({ point }) => `${point}/`.startsWith(`${treeRoot}/`));
  const old = mounts.filter(({ type }) => type === 'cgroup');
  const unified = mounts.find(({ type }) => type === 'cgroup2');
  const used = old.length > 0 ? old : unified === undefined ? [] : [unified];
  if (used.length === 0) return failed(`none is mounted below ${treeRoot}`, 'see cgroup-version');
  if (old.length > 0 && config?.pods.refuses.cgroupV1 === true)
    return failed(
      'version 1, with which the agent does not start (failCgroupV1)',
      'start the kernel with systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false',
    );
  const locked = used.filter(({ options }) => options.has('ro')).map(({ point }) => point);
  if (locked.length > 0)
    return failed(
      `read-only: ${formatList(locked, 3)}`,
      'mount it writable; a container that runs the agent needs its own tree (--privileged, --cgroupns=private)',
    );
  if (old.length > 0 || unified === undefined) return ok('version 1, and it can be written');
  const place = `${unified.point}${cgroupRoot === '/' ? '' : cgroupRoot}`;
  const delegated = (host.read(`${place}/cgroup.controllers`) ?? '').split(/\s+/);
  const missing = controllers.filter((name) => !delegated.includes(name));
  if (missing.length === 0) return ok(`${place} has ${controllers.join(', ')}`);
  return failed(
    `${place} lacks ${missing.join(', ')}`,
    `switch them on in each group above it (echo +${missing.join(' +')} > …/cgroup.subtree_control), or delegate them (Delegate=yes in the unit)`,
  );
}

/** Those of busybox lack the options by which a mount cannot be led elsewhere. */
async function judgeMountTools(host: Host, signal: AbortSignal): Promise<Finding> {
  const tools = ['mount', 'umount'];
  const ran = await Promise.all(tools.map((name) => host.exec(name, ['--version'], signal)));
  const missing = tools.filter((_name, index) => ran[index] === undefined);
  const advice = 'install the package mount (util-linux)';
  if (missing.length > 0) return failed(`missing: ${missing.join(', ')}; volumes cannot be mounted`, advice);
  const others = tools.filter((_name, index) => !/util-linux/.test(ran[index]?.output ?? ''));
  if (others.length > 0) return failed(`not of util-linux: ${others.join(', ')}`, advice);
  return ok(ran[0]?.output.trim().split('\n', 1)[0] ?? 'there');
}

const forwarding = '/proc/sys/net/ipv4/ip_forward';
const bridging = '/proc/sys/net/bridge/bridge-nf-call-iptables';
const persist = 'put the same into /etc/sysctl.d';

/** They read the kernel's files alone, so the agent runs them by itself too. */
export const podHostChecks: readonly Check[] = [
  {
    id: 'ip-forward',
    topic: 'pods',
    title: 'forwarding',
    needed: 'net.ipv4.ip_forward = 1, for pods with a network of their own',
    fast: true,
    run(host) {
      const value = host.read(forwarding)?.trim();
      if (value === undefined) return unknown(`${forwarding} cannot be read`);
      if (value === '1') return ok('on');
      return warning(
        'off: pods reach nothing beyond this node, unless the network plugin switches it on',
        `sysctl -w net.ipv4.ip_forward=1, and ${persist}`,
      );
    },
  },
  {
    id: 'bridge-netfilter',
    topic: 'pods',
    title: 'packets between pods on one bridge',
    needed: 'net.bridge.bridge-nf-call-iptables = 1, where a service proxy works by iptables',
    fast: true,
    run(host) {
      const value = host.read(bridging)?.trim();
      if (value === undefined)
        return notApplicable('br_netfilter is not loaded; a service proxy by iptables needs it (modprobe)');
      if (value === '1') return ok('on');
      return warning(
        'off: pods on one bridge do not reach each other by the address of a Service',
        `sysctl -w net.bridge.bridge-nf-call-iptables=1, and ${persist}`,
      );
    },
  },
  {
    id: 'other-agent',
    topic: 'pods',
    title: 'another node agent',
    needed: 'none: a kubelet removes every pod of the runtime that it does not know',
    fast: true,
    run(host) {
      const pids = host.names('/proc').filter((name) => /^\d+$/.test(name));
      const found = pids.filter((pid) => host.read(`/proc/${pid}/comm`)?.trim() === 'kubelet');
      if (found.length === 0) return ok('none is seen');
      return failed(
        `${formatCount(found.length, 'kubelet')} runs here (process ${formatList(found, 3)})`,
        'stop one of the two: systemctl disable --now kubelet, unless it has a runtime of its own',
      );
    },
  },
];
