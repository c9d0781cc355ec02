import type { Kind, ObjectType } from '../kinds/index.ts';
import { deleteOptions, groupName, listMeta, status } from '../kinds/index.ts';
import type { StructType } from '../schema/index.ts';
import { field, list, required, string, struct } from '../schema/index.ts';
import type { Components } from './components.ts';
import { homeOf } from './names.ts';
import type { GroupVersionKind } from './schema.ts';

/** What the documents describe. */
export interface Served {
  /** Every kind of the server. */
  kinds: readonly Kind[];
  groupSuffix: string;
}

type Named = Pick<ObjectType, 'group' | 'version' | 'kind'>;

/** Adds all types of the requests and responses of a kind: the kind, its list, and the bodies of its subresources. */
export function addKind(components: Components, kind: Kind, served: Served): void {
  const add = (type: ObjectType, root: StructType, description: string) =>
    components.add(root, homeOf(type), {
      description,
      'x-kubernetes-group-version-kind': [
        createGroupVersionKind({ ...type, kind: root.name }, served.groupSuffix),
      ],
    });
  add(kind, kind.root, kind.doc);
  if (kind.verbs.includes('list')) add(kind, createListType(kind), `A list of ${kind.kind} objects.`);
  for (const { body, connects } of kind.subresources) {
    if (body !== undefined && !connects) add(body, body.root, body.doc);
  }
  const verbs = new Set<string>([kind, ...kind.subresources].flatMap((each) => each.verbs));
  if (verbs.has('patch')) {
    components.add(patch, 'meta/v1', { description: 'A change; its media type says which sort.' });
  }
  if (verbs.has('delete') || verbs.has('deletecollection')) addDeletion(components, served);
}

const patch = struct('Patch', {}, { home: 'meta/v1' });

/** DeleteOptions may be sent with the group and version of any served kind. */
function addDeletion(components: Components, { kinds, groupSuffix }: Served): void {
  components.add(status, 'meta/v1', {
    description: 'The answer of an operation that gives no object.',
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Status' }],
  });
  components.add(deleteOptions, 'meta/v1', {
    description: 'How something is deleted.',
    'x-kubernetes-group-version-kind': groupVersions(kinds).map((each) =>
      createGroupVersionKind({ ...each, kind: 'DeleteOptions' }, groupSuffix),
    ),
  });
}

function createListType({ kind, root }: Kind): StructType {
  return struct(`${kind}List`, {
    apiVersion: field(0, string, 'Group and version of the kind.'),
    kind: field(0, string, 'Name of the kind.'),
    metadata: field(1, listMeta, 'Metadata of the list.'),
    items: required(2, list(root), 'The objects.'),
  });
}

function groupVersions(kinds: readonly Kind[]): Pick<ObjectType, 'group' | 'version'>[] {
  const found = new Map(kinds.map(({ group, version }) => [homeOf({ group, version }), { group, version }]));
  return [...found.values()];
}

function createGroupVersionKind({ group, version, kind }: Named, groupSuffix: string): GroupVersionKind {
  return { group: groupName(group, groupSuffix), version, kind };
}
