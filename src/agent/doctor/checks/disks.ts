import { dirname, join } from 'node:path';
import { formatBytes } from '../format.ts';
import type { Host } from '../host.ts';
import type { Space } from '../inspect-path.ts';
import type { Mount } from '../mounts.ts';
import { findMount, parseMounts } from '../mounts.ts';
import type { RuntimeReport } from '../runtime-report.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, ok, unknown, warning } from '../types.ts';
import type { PodFolders } from './pod-usage.ts';
import { describePodUsage } from './pod-usage.ts';

export function createDiskChecks(
  rootDir: string,
  podLogsDir: string,
  runtime: () => Promise<Pick<RuntimeReport, 'folder' | 'fault'>>,
): Check[] {
  const pods = { podsDir: join(rootDir, 'pods'), podLogsDir };
  return [
    {
      id: 'root-dir-disk',
      topic: 'storage',
      title: 'disk of the root folder',
      needed: 'room, inodes, writable, a file system of this machine that lasts',
      run: (host, signal) => judgeDisk(host, rootDir, { keeps: true, pods }, signal),
    },
    {
      id: 'pod-logs-disk',
      topic: 'storage',
      title: 'disk of the logs of pods',
      needed: 'room, inodes, writable',
      run: (host, signal) => judgeDisk(host, podLogsDir, { keeps: false, pods }, signal),
    },
    {
      id: 'runtime-disk',
      topic: 'storage',
      title: 'disk of the container runtime',
      needed: 'room, inodes, writable, without noexec',
      async run(host, signal) {
        const { folder, fault } = await runtime();
        if (folder !== undefined) return judgeDisk(host, folder, { keeps: false }, signal);
        return unknown(
          fault === undefined ? 'the runtime does not tell its folder' : 'the runtime could not be asked',
        );
      },
    },
  ];
}

interface DiskUse {
  /** Whether the agent keeps its own state there: it must survive a reboot, and file locks must work. */
  keeps: boolean;
  /** Whose files may fill it; undefined: those of pods are elsewhere. */
  pods?: PodFolders;
}

async function judgeDisk(host: Host, path: string, use: DiskUse, signal: AbortSignal): Promise<Finding> {
  const looked = await host.inspectPath({ path, orElse: listAncestors(path), space: true }, signal);
  if ('fault' in looked)
    return unknown(`${path}: ${looked.fault}`, looked.fault === 'EACCES' ? asRoot : undefined);
  const { realPath, space } = looked.found;
  const mount = findMount(parseMounts(host.read('/proc/self/mountinfo') ?? ''), realPath);
  if (space === undefined) return unknown(`${path}: its free space is not known`);
  const where = mount === undefined ? realPath : `${mount.type} at ${mount.point}`;
  const low = judgeSpace(`${where}: ${formatSpace(space)}`, space);
  if (low !== undefined && use.pods !== undefined)
    return { ...low, found: `${low.found}${await describePodUsage(host, use.pods, signal)}` };
  return low ?? judgeMount(where, mount, use) ?? ok(`${where}: ${formatSpace(space)}`);
}

/** The parent folders, nearest first: a path that does not exist yet will be created in the first that does. */
function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...listAncestors(parent)];
}

function formatSpace({ freeBytes, totalBytes, freeInodes, inodes }: Space): string {
  const room = `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} free`;
  return inodes === 0 ? room : `${room}, ${freeInodes} of ${inodes} inodes`;
}

const mebibyte = 1024 * 1024;

/** Nothing of any use can be written any more. */
export function isFull({
  freeBytes,
  inodes,
  freeInodes,
}: Pick<Space, 'freeBytes' | 'inodes' | 'freeInodes'>): boolean {
  return freeBytes < 64 * mebibyte || (inodes > 0 && freeInodes < 100);
}

/** The shares at which the node is under pressure by default (specification, section 2.5; those of the reference). */
function judgeSpace(found: string, space: Space): Finding | undefined {
  const { freeBytes, totalBytes, freeInodes, inodes } = space;
  const lowOnInodes = inodes > 0 && freeInodes < inodes * 0.05;
  if (isFull(space))
    return failed(found, 'make room there: nothing can be written any more, checkpoints first');
  if (freeBytes < totalBytes * 0.1)
    return warning(found, 'make room there: the node is under disk pressure soon');
  if (lowOnInodes) return warning(found, 'remove small files there: the node runs out of inodes');
  return undefined;
}

const remote = /^(nfs|nfs4|cifs|smb3|9p|ceph|glusterfs|afs|fuse\.sshfs|fuse\.s3fs|fuse\.glusterfs)$/;

function judgeMount(found: string, mount: Mount | undefined, { keeps }: DiskUse): Finding | undefined {
  if (mount === undefined) return undefined;
  const { options, type } = mount;
  if (options.has('ro'))
    return failed(`${found}, read-only`, `mount it writable: mount -o remount,rw ${mount.point}`);
  if (remote.test(type))
    return warning(
      `${found}, a file system of another machine`,
      'use a disk of this machine: it hangs with the network',
    );
  if (keeps && (type === 'tmpfs' || type === 'ramfs'))
    return warning(`${found}, in memory`, 'use a disk: the node loses its keys and the store with each boot');
  if (keeps && type === 'overlay')
    return warning(
      `${found}, the layer of a container`,
      'put a volume there: all of it goes with the container',
    );
  if (!keeps && options.has('noexec'))
    return warning(`${found}, noexec`, `mount it without noexec: mount -o remount,exec ${mount.point}`);
  return undefined;
}
