import { dirname } from 'node:path';
import { shownBytes } from '../amounts.ts';
import type { Host } from '../host.ts';
import type { Space } from '../look.ts';
import type { Mount } from '../mounts.ts';
import { mountOf, parseMounts } from '../mounts.ts';
import type { RuntimeAnswers } from '../runtime-answers.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, ok, unknown, warning } from '../types.ts';

export function diskChecks(rootDir: string, runtime: () => Promise<RuntimeAnswers>): Check[] {
  return [
    {
      id: 'root-dir-disk',
      topic: 'storage',
      title: 'disk of the root folder',
      needed: 'room, inodes, writable, a file system of this machine that lasts',
      run: (host, signal) => judgeDisk(host, rootDir, { keeps: true }, signal),
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

interface Use {
  /** The agent's own: it must outlive a reboot and needs locks that work. */
  keeps: boolean;
}

async function judgeDisk(host: Host, path: string, use: Use, signal: AbortSignal): Promise<Finding> {
  const looked = await host.look({ path, orElse: ancestors(path), space: true }, signal);
  if ('fault' in looked)
    return unknown(`${path}: ${looked.fault}`, looked.fault === 'EACCES' ? asRoot : undefined);
  const { realPath, space } = looked.found;
  const mount = mountOf(parseMounts(host.read('/proc/self/mountinfo') ?? ''), realPath);
  if (space === undefined) return unknown(`${path}: its room is not told`);
  const where = mount === undefined ? realPath : `${mount.type} at ${mount.point}`;
  return (
    judgeSpace(`${where}: ${shownSpace(space)}`, space) ??
    judgeMount(where, mount, use) ??
    ok(`${where}: ${shownSpace(space)}`)
  );
}

/** Of what does not exist yet, the folder that it will be made in counts. */
function ancestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestors(parent)];
}

function shownSpace({ freeBytes, totalBytes, freeInodes, inodes }: Space): string {
  const room = `${shownBytes(freeBytes)} of ${shownBytes(totalBytes)} free`;
  return inodes === 0 ? room : `${room}, ${freeInodes} of ${inodes} inodes`;
}

const mebibyte = 1024 * 1024;

/** The same shares at which the node is under pressure by default (specification, section 2.5; the reference's). */
function judgeSpace(
  found: string,
  { freeBytes, totalBytes, freeInodes, inodes }: Space,
): Finding | undefined {
  const fewInodes = inodes > 0 && freeInodes < inodes * 0.05;
  if (freeBytes < 64 * mebibyte || (inodes > 0 && freeInodes < 100))
    return failed(found, 'make room there: nothing can be written any more, checkpoints first');
  if (freeBytes < totalBytes * 0.1)
    return warning(found, 'make room there: the node is under disk pressure soon');
  if (fewInodes) return warning(found, 'remove small files there: the node runs out of inodes');
  return undefined;
}

const remote = /^(nfs|nfs4|cifs|smb3|9p|ceph|glusterfs|afs|fuse\.sshfs|fuse\.s3fs|fuse\.glusterfs)$/;

function judgeMount(found: string, mount: Mount | undefined, { keeps }: Use): Finding | undefined {
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
