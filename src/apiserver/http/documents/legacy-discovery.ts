import { createHash } from 'node:crypto';
import type { Kind, ObjectType, Subresource } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';
import type { Group, Resource } from './discovery-types.ts';
import { groupListType, groupType, resourceListType, versionsType } from './discovery-types.ts';
import type { GroupVersion } from './groups.ts';

/** An object that describes the server, with its type. */
export interface Described {
  type: ObjectType;
  object: object;
}

/** `/api`; `address` is where this client reaches the server, host:port. */
export function coreVersions(groups: readonly GroupVersion[], address: string): Described {
  const versions = groups.filter(({ group }) => group === '').map(({ version }) => version);
  const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  return described(versionsType, { versions, serverAddressByClientCIDRs: addresses });
}

/** The documents of groups and of their versions, by path: `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/api/v1`. */
export function discoveryDocuments(
  groups: readonly GroupVersion[],
  groupSuffix: string,
): Map<string, Described> {
  const documents = new Map<string, Described>();
  const named = groupsOf(groups);
  documents.set('/apis', described(groupListType, { groups: named }));
  for (const group of named) documents.set(`/apis/${group.name}`, described(groupType, group));
  for (const { path, groupVersion, kinds } of groups) {
    const resources = kinds.flatMap((kind) => resourcesOf(kind, groupSuffix));
    documents.set(path, described(resourceListType, { groupVersion, resources }));
  }
  return documents;
}

function described(type: ObjectType, object: object): Described {
  return { type, object: { kind: type.kind, apiVersion: 'v1', ...object } };
}

function groupsOf(groups: readonly GroupVersion[]): Group[] {
  const byName = Map.groupBy(
    groups.filter(({ group }) => group !== ''),
    ({ group }) => group,
  );
  return [...byName].map(([name, members]) => {
    const versions = members.map(({ groupVersion, version }) => ({ groupVersion, version }));
    const [preferredVersion] = versions;
    return { name, versions, ...(preferredVersion === undefined ? {} : { preferredVersion }) };
  });
}

function resourcesOf(kind: Kind, groupSuffix: string): Resource[] {
  const { resource, singular, namespaced, shortNames, categories, verbs } = kind;
  const own: Resource = {
    name: resource,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs: verbs.toSorted(),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(kind.virtual ? {} : { storageVersionHash: storageVersionHash(kind, groupSuffix) }),
  };
  return [own, ...subresourcesOf(kind).map((part) => subresourceEntry(kind, part, groupSuffix))];
}

/** By name, as they are shown. */
export function subresourcesOf(kind: Kind): Subresource[] {
  return kind.subresources.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function subresourceEntry(kind: Kind, part: Subresource, groupSuffix: string): Resource {
  const { kind: shown, ...elsewhere } = kindOfPart(kind, part, groupSuffix);
  return {
    name: `${kind.resource}/${part.name}`,
    singularName: '',
    namespaced: kind.namespaced,
    ...elsewhere,
    kind: shown,
    verbs: part.verbs.toSorted(),
  };
}

/** The kind that a subresource speaks of; with its group and version where these are not those of the resource. */
export function kindOfPart(
  kind: Kind,
  { body = kind }: Subresource,
  groupSuffix: string,
): { kind: string; group?: string; version?: string } {
  if (body.group === kind.group && body.version === kind.version) return { kind: body.kind };
  return { kind: body.kind, group: groupName(body.group, groupSuffix), version: body.version };
}

/** The same for the same stored form, as the reference makes it; a view is stored as another kind. */
function storageVersionHash(kind: Kind, groupSuffix: string): string {
  const stored = kind.storedAs?.kind ?? kind;
  const text = `${groupName(stored.group, groupSuffix)}/${stored.version}/${stored.kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}
