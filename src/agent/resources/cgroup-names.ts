import type { QosClass } from '../../api/index.ts';
import type { GroupPath } from '../usage/index.ts';

/*
 * Where the cgroups of pods are, and how the runtime is given them. With the driver cgroupfs they are folders:
 *
 *   ROOT/kubepods/podUID                  Guaranteed
 *   ROOT/kubepods/burstable/podUID
 *   ROOT/kubepods/besteffort/podUID
 *
 * With the driver systemd they are slices, each named by all that it lies in:
 *
 *   kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_WITH_UNDERSCORES.slice
 */

export type CgroupDriver = 'cgroupfs' | 'systemd';

export interface CgroupNaming {
  readonly driver: CgroupDriver;
  /** cgroupRoot of the configuration, such as `/` or `/machine`. */
  readonly root: string;
}

const top = 'kubepods';

/** The group of all pods. */
export function kubepodsPath(naming: CgroupNaming): GroupPath {
  return toPath(naming, [...rootParts(naming.root), top]);
}

/** The group of all pods of one class; those of Guaranteed lie directly in the group of all pods. */
export function tierPath(naming: CgroupNaming, qos: QosClass): GroupPath {
  return toPath(naming, tierParts(naming, qos));
}

/** Throws when the uid cannot be part of a path. */
export function podPath(naming: CgroupNaming, qos: QosClass, uid: string): GroupPath {
  return toPath(naming, [...tierParts(naming, qos), `pod${checkUid(uid)}`]);
}

/** As the runtime wants it: a path, or with systemd the name of the slice. */
export function parentFor(naming: CgroupNaming, path: GroupPath): string {
  return naming.driver === 'systemd' ? (path.at(-1) ?? '') : `/${path.join('/')}`;
}

/**
 * Where a group that others have made may be, as the reference finds it by its name: with cgroupfs a path below the root of the tree,
 * with systemd a slice, whose name says where it lies. Undefined: the driver is not known yet. The likelier place first.
 */
export function existingPaths(name: string, driver: CgroupDriver | undefined): readonly GroupPath[] {
  const plain = rootParts(name);
  const unit = (plain.at(-1) ?? '').replace(/\.slice$/, '');
  const slice = toPath({ driver: 'systemd', root: '/' }, unit.split('-'));
  if (driver === 'cgroupfs') return [plain];
  return driver === 'systemd' ? [slice, plain] : [plain, slice];
}

const allowedUid = /^\w[\w.-]{0,127}$/;

function checkUid(uid: string): string {
  if (allowedUid.test(uid)) return uid;
  throw new Error(
    `the uid ${JSON.stringify(uid.slice(0, 200))} cannot name a cgroup: it may have letters, digits, -, _ and .`,
  );
}

function tierParts({ root }: CgroupNaming, qos: QosClass): string[] {
  const tier = qos === 'Guaranteed' ? [] : [qos.toLowerCase()];
  return [...rootParts(root), top, ...tier];
}

function rootParts(root: string): string[] {
  const parts = root.split('/').filter((part) => part !== '' && part !== '.');
  if (!parts.includes('..')) return parts;
  throw new Error(`the cgroup ${JSON.stringify(root)} must not contain ..`);
}

function toPath({ driver }: CgroupNaming, parts: readonly string[]): GroupPath {
  if (driver === 'cgroupfs') return parts;
  const escaped = parts.map((part) => part.replaceAll('-', '_'));
  return escaped.map((_, index) => `${escaped.slice(0, index + 1).join('-')}.slice`);
}
