import type { Host } from '../host.ts';
import type { Mount } from '../mounts.ts';
import { parseMounts } from '../mounts.ts';
import type { Check, Finding } from '../types.ts';
import { failed, notApplicable, ok, unknown, warning } from '../types.ts';
import { isAtLeast } from '../versions.ts';

const root = '/sys/fs/cgroup';

interface Cgroups {
  /** `hybrid`: the controllers are in hierarchies of version 1, beside an empty hierarchy of version 2. */
  readonly version: 'v2' | 'v1' | 'hybrid' | 'none';
  /** The mount point of version 2. */
  readonly unified: string | undefined;
  /** Those that can be used. */
  readonly controllers: ReadonlySet<string>;
}

function readCgroups(host: Pick<Host, 'read'>): Cgroups {
  const mounts = parseMounts(host.read('/proc/self/mountinfo') ?? '');
  const unified = mounts.find(({ type, point }) => type === 'cgroup2' && point.startsWith(root))?.point;
  const old = mounts.filter(({ type }) => type === 'cgroup');
  const inOld = old.flatMap(listControllers);
  const inNew = unified === undefined ? [] : (host.read(`${unified}/cgroup.controllers`) ?? '').split(/\s+/);
  const controllers = new Set([...inOld, ...inNew].filter((name) => name !== ''));
  if (inOld.length > 0) return { version: unified === undefined ? 'v1' : 'hybrid', unified, controllers };
  return { version: unified === undefined ? 'none' : 'v2', unified, controllers };
}

const known = ['cpu', 'cpuset', 'memory', 'pids', 'freezer', 'devices', 'blkio', 'hugetlb'];

/** Whether the controllers are those of version 1. */
export function usesVersion1(host: Pick<Host, 'read'>): boolean {
  const { version } = readCgroups(host);
  return version === 'v1' || version === 'hybrid';
}

/** A mount of version 1 has its controllers among its options. */
function listControllers({ options }: Mount): string[] {
  return known.filter((name) => options.has(name));
}

export const cgroupChecks: readonly Check[] = [
  {
    id: 'cgroup-version',
    topic: 'cgroups',
    title: 'version of control groups',
    needed: 'version 2',
    fast: true,
    run(host) {
      if (host.read('/proc/self/mountinfo') === undefined)
        return unknown('/proc/self/mountinfo cannot be read');
      const { version } = readCgroups(host);
      if (version === 'v2') return ok('version 2');
      if (version === 'none')
        return failed(`none is mounted below ${root}`, `mount it: mount -t cgroup2 cgroup2 ${root}`);
      const found = version === 'v1' ? 'version 1' : 'version 1, with an empty tree of version 2 beside it';
      return warning(
        `${found}; it is in maintenance mode`,
        'move to version 2: start the kernel with systemd.unified_cgroup_hierarchy=1',
      );
    },
  },
  {
    id: 'cgroup-controllers',
    topic: 'cgroups',
    title: 'controllers',
    needed: 'cpu, memory and pids; cpuset is useful',
    fast: true,
    run(host) {
      const { version, controllers } = readCgroups(host);
      if (version === 'none') return notApplicable('there are no control groups');
      const missing = ['cpu', 'memory', 'pids'].filter((name) => !controllers.has(name));
      const found = `usable: ${[...controllers].sort().join(', ') || 'none'}`;
      if (missing.length > 0)
        return failed(
          `${found}; missing: ${missing.join(', ')}`,
          'switch them on: in the kernel (cgroup_enable=memory on some boards) or, in a container, in the settings of its runtime',
        );
      return controllers.has('cpuset') ? ok(found) : warning(found, 'switch the controller cpuset on');
    },
  },
  {
    id: 'cgroup-cpu-stat',
    topic: 'cgroups',
    title: 'cpu.stat of the root group',
    needed: 'kernel 5.8 or later, for the CPU use of the whole node',
    fast: true,
    run(host) {
      const { version, unified } = readCgroups(host);
      if (version !== 'v2' || unified === undefined) return notApplicable('only version 2 has it');
      if (host.read(`${unified}/cpu.stat`) !== undefined) return ok('there');
      return warning('missing', 'update the kernel to 5.8 or later');
    },
  },
  {
    id: 'cgroup-freezer',
    topic: 'cgroups',
    title: 'freezing',
    needed: 'kernel 5.2 or later with version 2, or the controller freezer; checkpoints need it',
    fast: true,
    run: judgeFreezer,
  },
];

const freezerAdvice = 'update the kernel to 5.2 or later: without freezing there are no checkpoints';

function judgeFreezer(host: Host): Finding {
  const { version, unified, controllers } = readCgroups(host);
  if (version === 'none') return notApplicable('there are no control groups');
  if (controllers.has('freezer')) return ok('the controller freezer of version 1');
  if (version !== 'v2' || unified === undefined)
    return failed('the controller freezer is not mounted', 'mount it, or move to version 2');
  // every group but the root has the file cgroup.type
  const group = host.names(unified).find((name) => host.read(`${unified}/${name}/cgroup.type`) !== undefined);
  if (group !== undefined) {
    const there = host.read(`${unified}/${group}/cgroup.freeze`) !== undefined;
    return there ? ok(`seen in the group ${group}`) : failed('missing', freezerAdvice);
  }
  if (isAtLeast(host.kernelRelease, '5.2')) return ok(`kernel ${host.kernelRelease}, by its version`);
  return failed(`kernel ${host.kernelRelease}`, freezerAdvice);
}
