import type { Kind } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';

/** The kinds of one group and version. */
export interface GroupVersion {
  /** With its suffix; empty for the core group. */
  group: string;
  version: string;
  /** `coordination.k8s.io/v1`, `v1`. */
  groupVersion: string;
  /** The prefix of its paths: `/apis/coordination.k8s.io/v1`, `/api/v1`. */
  path: string;
  /** By resource. */
  kinds: readonly Kind[];
}

/** The order of the reference, in which clients resolve short names; other groups follow by name. */
const order = [
  '',
  'apiregistration',
  'apps',
  'events',
  'authentication',
  'authorization',
  'autoscaling',
  'batch',
  'certificates',
  'networking',
  'policy',
  'rbac.authorization',
  'storage',
  'admissionregistration',
  'scheduling',
  'coordination',
  'node',
  'discovery',
  'resource',
  'flowcontrol.apiserver',
];

/** The served kinds by group and version, in the order of discovery. */
export function listGroupVersions(kinds: readonly Kind[], groupSuffix: string): GroupVersion[] {
  const found = Map.groupBy(kinds, ({ group, version }) => `${group}/${version}`);
  return [...found.values()].sort(compareGroups).flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const { version } = first;
    const group = groupName(first.group, groupSuffix);
    const groupVersion = group === '' ? version : `${group}/${version}`;
    const path = group === '' ? `/api/${version}` : `/apis/${groupVersion}`;
    return [{ group, version, groupVersion, path, kinds: members.toSorted(compareResources) }];
  });
}

function compareGroups([one]: Kind[], [other]: Kind[]): number {
  const [a, b] = [one?.group ?? '', other?.group ?? ''];
  return rank(a) - rank(b) || compare(a, b) || compareVersions(one?.version ?? '', other?.version ?? '');
}

/** The best first: v2, v1, v2beta1, v1beta2, v1alpha1. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [versionParts(one), versionParts(other)];
  for (const [index, part] of a.entries()) {
    const difference = (b[index] ?? 0) - part;
    if (difference !== 0) return difference;
  }
  return 0;
}

const stages = ['alpha', 'beta', undefined];

function versionParts(version: string): number[] {
  const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return [stages.indexOf(stage), Number(major ?? 0), Number(minor ?? 0)];
}

function rank(group: string): number {
  const at = order.indexOf(group);
  return at < 0 ? order.length : at;
}

function compareResources(one: Kind, other: Kind): number {
  return compare(one.resource, other.resource);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
