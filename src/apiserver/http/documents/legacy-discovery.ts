import { createHash } from 'node:crypto';
import type { Kind, ObjectType, Subresource } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';
import type { Group, Resource } from './discovery-types.ts';
import { groupListType, groupType, resourceListType, versionsType } from './discovery-types.ts';
import type { GroupVersion } from './groups.ts';

/** A discovery document, with its type. */
export interface DiscoveryDocument {
  type: ObjectType;
  object: object;
}

/** `/api`; `address` is where this client reaches the server, host:port. */
export function describeCoreVersions(groups: readonly GroupVersion[], address: string): DiscoveryDocument {
  const versions = groups.filter(({ group }) => group === '').map(({ version }) => version);
  const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  return toDocument(versionsType, { versions, serverAddressByClientCIDRs: addresses });
}

/** The documents of groups and of their versions, by path: `/apis`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/api/v1`. */
export function createDiscoveryDocuments(
  groups: readonly GroupVersion[],
  groupSuffix: string,
): Map<string, DiscoveryDocument> {
  const documents = new Map<string, DiscoveryDocument>();
  const named = describeGroups(groups);
  documents.set('/apis', toDocument(groupListType, { groups: named }));
  for (const group of named) documents.set(`/apis/${group.name}`, toDocument(groupType, group));
  for (const { path, groupVersion, kinds } of groups) {
    const resources = kinds.flatMap((kind) => describeResources(kind, groupSuffix));
    documents.set(path, toDocument(resourceListType, { groupVersion, resources }));
  }
  return documents;
}

function toDocument(type: ObjectType, object: object): DiscoveryDocument {
  return { type, object: { kind: type.kind, apiVersion: 'v1', ...object } };
}

function describeGroups(groups: readonly GroupVersion[]): Group[] {
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

function describeResources(kind: Kind, groupSuffix: string): Resource[] {
  const { resource, singular, namespaced, shortNames, categories, verbs } = kind;
  const own: Resource = {
    name: resource,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs: verbs.toSorted(),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(kind.virtual ? {} : { storageVersionHash: hashStorageVersion(kind, groupSuffix) }),
  };
  return [own, ...sortSubresources(kind).map((part) => describeSubresource(kind, part, groupSuffix))];
}

/** By name, in the order of discovery. */
export function sortSubresources(kind: Kind): Subresource[] {
  return kind.subresources.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function describeSubresource(kind: Kind, part: Subresource, groupSuffix: string): Resource {
  const { kind: bodyKind, ...otherGroup } = describeBodyKind(kind, part, groupSuffix);
  return {
    name: `${kind.resource}/${part.name}`,
    singularName: '',
    namespaced: kind.namespaced,
    ...otherGroup,
    kind: bodyKind,
    verbs: part.verbs.toSorted(),
  };
}

/** The kind of a subresource's body, with its group and version where they differ from those of the resource. */
export function describeBodyKind(
  kind: Kind,
  { body = kind }: Subresource,
  groupSuffix: string,
): { kind: string; group?: string; version?: string } {
  if (body.group === kind.group && body.version === kind.version) return { kind: body.kind };
  return { kind: body.kind, group: groupName(body.group, groupSuffix), version: body.version };
}

/** As in the reference, equal for the same stored form; a view is stored as another kind. */
function hashStorageVersion(kind: Kind, groupSuffix: string): string {
  const stored = kind.storedAs?.kind ?? kind;
  const text = `${groupName(stored.group, groupSuffix)}/${stored.version}/${stored.kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}
