import type { ObjectType } from '../../../api/index.ts';
import type { Fields, Infer } from '../../../api/schema/index.ts';
import { bool, field, list, required, string, struct } from '../../../api/schema/index.ts';

/*
 * Descriptions of the discovery documents, like those of kinds, so that they can be sent in every encoding. They are not
 * kinds: clients cannot create them.
 */

const serverAddress = struct('ServerAddressByClientCIDR', {
  clientCIDR: required(1, string, 'Clients with an address in this network …'),
  serverAddress: required(2, string, 'reach the server at this address.'),
});

const groupVersion = struct('GroupVersionForDiscovery', {
  groupVersion: required(1, string, 'Group and version.'),
  version: required(2, string, 'Version.'),
});

const groupFields = {
  name: required(1, string, 'Name of the group.'),
  versions: required(2, list(groupVersion), 'Its versions, the best first.'),
  preferredVersion: field(3, groupVersion, 'The version to use.'),
};

const resource = struct('APIResource', {
  name: required(1, string, 'Plural name, as in paths; with the part for a subresource.'),
  singularName: required(6, string, 'Singular name; empty for a subresource.'),
  namespaced: required(2, bool, 'Whether objects are in namespaces.'),
  group: field(8, string, 'Group of the kind, where it is another than that of the list.'),
  version: field(9, string, 'Version of the kind, where it is another than that of the list.'),
  kind: required(3, string, 'Kind of the objects.'),
  verbs: required(1, list(string), 'What can be done.', { within: 4 }),
  shortNames: field(5, list(string), 'Short names for people.'),
  categories: field(7, list(string), 'Names for several resources at once.'),
  storageVersionHash: field(10, string, 'Changes when objects are stored in another version.'),
});

export type Group = Infer<typeof group>;
export type Resource = Infer<typeof resource>;

const group = struct('APIGroup', groupFields);

/** `/apis/GROUP` */
export const groupType = defineDocument('APIGroup', groupFields);
/** `/apis` */
export const groupListType = defineDocument('APIGroupList', {
  groups: required(1, list(group), 'The groups.'),
});
/** `/api` */
export const versionsType = defineDocument('APIVersions', {
  versions: required(1, list(string), 'The versions of the core group.'),
  serverAddressByClientCIDRs: required(2, list(serverAddress), 'Where the server is reached.'),
});
/** `/apis/GROUP/VERSION` */
export const resourceListType = defineDocument('APIResourceList', {
  groupVersion: required(1, string, 'Group and version of the resources.'),
  resources: required(2, list(resource), 'The resources.'),
});

function defineDocument<const F extends Fields>(kind: string, fields: F): ObjectType {
  const typed = {
    kind: field(0, string, 'Name of the kind.'),
    apiVersion: field(0, string, 'v1.'),
    ...fields,
  };
  return { group: '', version: 'v1', kind, root: struct(kind, typed, { home: 'meta/v1' }) };
}
