import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createRecentReader, readKernelFile } from '../../base/index.ts';
import { mountsBelow, readMountTable } from '../pods/housekeeping/index.ts';
import { containerLogFolder } from '../pods/logs/index.ts';
import type { CgroupNaming } from '../resources/index.ts';
import { kubepodsPath, openCgroupTree, podPath } from '../resources/index.ts';
import type { Connection } from '../runtime/index.ts';
import type { OwnUsageOptions } from '../server/stats/index.ts';
import type { GroupPath } from '../usage/index.ts';
import { FolderSizes, PodDisks, PodGroups, WritableLayers } from '../usage/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

const classes = ['Guaranteed', 'Burstable', 'BestEffort'] as const;
const drivers = ['cgroupfs', 'systemd'] as const;
/** The table of 110 pods takes the kernel 2 ms, and they have hundreds of folders to be measured. */
const mountTableMs = 1000;

/** What pods use by the files of the kernel; undefined on a machine without control groups. */
export function openUsage(
  context: AgentContext,
  connection: Connection,
): Omit<OwnUsageOptions, 'claims'> | undefined {
  const { clock } = context.options;
  const { root } = context.config.pods.cgroups;
  const hierarchies = tryOpenTree();
  if (hierarchies === undefined) return undefined;
  // the runtime says late which driver it is; no group has a name of both
  const namings = drivers.map((driver): CgroupNaming => ({ driver, root }));
  const podPaths = (uid: string) =>
    namings.flatMap((naming) => classes.map((qos): GroupPath => podPath(naming, qos, uid)));
  const groups = new PodGroups({ hierarchies, podPaths, clock });
  const layers = new WritableLayers({ connection, clock });
  return {
    groups,
    disks: openDisks(context, () => layers.all()),
    systemGroups: () => {
      const own = ownGroup(hierarchies.version);
      const pods = namings.map((naming) => kubepodsPath(naming)).filter((path) => groups.files.has(path));
      return [
        ...pods.slice(0, 1).map((path) => ({ name: 'pods', path })),
        ...(own.length === 0 ? [] : [{ name: 'kubelet', path: own }]),
      ];
    },
  };
}

function openDisks(context: AgentContext, layers: () => ReturnType<WritableLayers['all']>): PodDisks {
  const { rootDir, clock } = context.options;
  const { folder: logsDir } = context.config.logs;
  const allMounts = createRecentReader(clock, mountTableMs, () => mountsBelow(readMountTable(), ''));
  const sizes = new FolderSizes({
    mountsBelow: (folder) =>
      allMounts().filter((point) => point === folder || point.startsWith(`${folder}/`)),
    ...part(context, 'usage'),
    clock,
  });
  return new PodDisks({
    sizes,
    layers,
    logFolder: ({ metadata: { name = '', namespace = '', uid = '' } = {} }, container) =>
      containerLogFolder(logsDir, { name, namespace, uid }, container),
    emptyDirFolder: (uid, volume) =>
      join(
        realpathSync(join(rootDir, 'pods')),
        checkName(uid),
        'volumes/kubernetes.io~empty-dir',
        checkName(volume),
      ),
  });
}

/** The names of a static pod are whatever its manifest says. */
function checkName(name: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/.test(name)) return name;
  throw new Error(`${JSON.stringify(name)} cannot name a folder`);
}

function tryOpenTree() {
  try {
    return openCgroupTree();
  } catch {
    return undefined;
  }
}

/** The group of this process; none where that is the whole machine. */
function ownGroup(version: 1 | 2): GroupPath {
  const text = readKernelFile('/proc/self/cgroup') ?? '';
  const found = version === 2 ? /^0::(.*)$/m.exec(text) : /^\d+:(?:.*,)?memory(?:,.*)?:(.*)$/m.exec(text);
  return (found?.[1] ?? '').split('/').filter((name) => name !== '' && name !== '..');
}
