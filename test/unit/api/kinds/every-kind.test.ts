import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ApiObject, Encoding, Kind } from '../../../../src/api/index.ts';
import {
  apiVersionOf,
  decodeObject,
  encodeObject,
  listMeta,
  loadYamlReader,
  servedKinds,
  status,
  toTable,
} from '../../../../src/api/index.ts';
import type { ListType, StructType, Type } from '../../../../src/api/schema/index.ts';
import { jsonBody } from '../../../support/index.ts';
import { someValue } from '../codec/protobuf/arbitrary.ts';
import { publishedNumbers } from './published.ts';
import { referenceNumbers } from './reference-numbers.ts';

const readYaml = await loadYamlReader();

/** An object as it is stored when a client sends it in an encoding, given what it means by itself. */
function settled(kind: Kind, object: ApiObject, encoding: Encoding): ApiObject {
  const bytes = encodeObject(kind, object, encoding);
  const body = encoding === 'yaml' ? { encoding, bytes, read: readYaml } : { encoding, bytes };
  const decoded = decodeObject(kind, apiVersionOf(kind, 'k8s.io'), body).object;
  return JSON.parse(JSON.stringify(kind.default(decoded)));
}

/** Every struct and list below a type, each once, with where it stands. */
function partsOf(root: Type): { structs: Map<string, StructType>; lists: Map<string, ListType> } {
  const structs = new Map<string, StructType>();
  const lists = new Map<string, ListType>();
  const visit = (type: Type, path: string): void => {
    if (type.t === 'list') lists.set(path, type);
    if (type.t === 'list' || type.t === 'map') visit(type.of, `${path}[]`);
    if (type.t !== 'struct' || [...structs.values()].includes(type)) return;
    structs.set(path, type);
    for (const [name, field] of Object.entries(type.fields))
      visit(field.type, path === '' ? name : `${path}.${name}`);
  };
  visit(root, '');
  return { structs, lists };
}

/** Of the group itself before those that others share; those by hand first where Go embeds a struct. */
function numbersOf(group: string, version: string, name: string): string | undefined {
  const own = group === '' ? undefined : publishedNumbers(group, version, name);
  return (
    referenceNumbers[`${group}/${name}`] ?? own ?? referenceNumbers[name] ?? publishedNumbers('', 'v1', name)
  );
}

/** Fields that are selected under another name than they have, as in the reference. */
const renamed = ['status.successful'];

/** Whether a path such as `status.phase` leads to a field. */
function hasField(type: Type, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  const field = type.t === 'struct' && Object.hasOwn(type.fields, step) ? type.fields[step] : undefined;
  return field !== undefined && hasField(field.type, rest);
}

const roots: readonly [string, StructType, string?, string?][] = [
  ...servedKinds.map((kind): [string, StructType, string, string] => [
    kind.kind,
    kind.root,
    kind.group,
    kind.version,
  ]),
  ['Status', status],
  ['ListMeta', listMeta],
];

for (const [name, root, group = '', version = 'v1'] of roots) {
  describe(`the description of ${group}/${version}/${name}`, () => {
    const { structs, lists } = partsOf(root);

    test('numbers the fields of each struct differently, and as the published messages do', () => {
      for (const [path, struct] of structs) {
        const published = new Map(
          numbersOf(group, version, struct.name)
            ?.split(' ')
            .map((pair) => pair.split('=', 2))
            .map(([field, number]) => [field, number]),
        );
        assert.ok(published.size > 0, `${struct.name} at ${path} is not a published message`);
        const numbers = Object.entries(struct.fields).map(([field, { proto, within }]) => {
          const number = [within ?? [], proto].flat().join('.');
          if (field === 'apiVersion' || field === 'kind') return proto === 0 ? `type ${field}` : number;
          assert.equal(number, published.get(field), `${struct.name}.${field}`);
          return number;
        });
        assert.equal(new Set(numbers).size, numbers.length, struct.name);
      }
    });

    test('has a line of documentation for each field', () => {
      for (const struct of structs.values()) {
        for (const [field, { doc }] of Object.entries(struct.fields)) {
          assert.match(doc, /^\S.*[.…]$/, `${struct.name}.${field}`);
          assert.ok(doc.length < 120, `${struct.name}.${field}`);
        }
      }
    });

    test('merges lists by fields that their items have', () => {
      for (const [path, list] of lists) {
        const keys = list.keys ?? [];
        assert.equal(
          keys.length > 0,
          list.list === 'map',
          `${path} has keys if and only if it merges by them`,
        );
        const item = list.of;
        for (const key of [...keys, ...(list.patch?.key === undefined ? [] : [list.patch.key])]) {
          assert.ok(item.t === 'struct' && Object.hasOwn(item.fields, key), `${path} by ${key}`);
        }
        if (list.list === 'set') assert.notEqual(item.t, 'struct', `${path} is a set of scalars`);
      }
    });
  });
}

for (const kind of servedKinds) {
  describe(`the kind ${kind.group}/${kind.kind}`, () => {
    test('begins as every object does', () => {
      const { apiVersion, kind: name, metadata } = kind.root.fields;
      assert.deepEqual([apiVersion?.proto, name?.proto, metadata?.proto], [0, 0, 1]);
      assert.equal(kind.root.name, kind.kind);
    });

    test('is named as the conventions have it', () => {
      assert.match(kind.kind, /^[A-Z][A-Za-z]+$/);
      assert.match(kind.resource, /^[a-z]+$/);
      assert.equal(kind.singular, kind.kind.toLowerCase());
      assert.equal(kind.root.name, kind.kind);
      assert.doesNotMatch(kind.group, /\.k8s\.io$/, 'without the suffix');
      assert.ok(kind.verbs.includes(kind.virtual ? 'create' : 'get'));
    });

    test('has selectable fields and subresource fields that exist', () => {
      for (const { path, value } of kind.selectable) {
        assert.ok(renamed.includes(path) || hasField(kind.root, path.split('.')), path);
        assert.equal(typeof value({}), 'string', path);
      }
      for (const { name, fields } of kind.subresources) {
        assert.match(name, /^[a-z]+$/);
        for (const field of fields) assert.ok(hasField(kind.root, field.split('.')), `${name}: ${field}`);
      }
    });

    test('has a table, default and preparation that an empty object does not break', () => {
      const options = { groupSuffix: 'k8s.io', include: 'Object', now: 0, headers: true } as const;
      const [row] = toTable(kind, [{}], {}, options).rows;
      assert.ok(
        row?.cells.every((cell) => cell === null || ['string', 'number', 'boolean'].includes(typeof cell)),
      );
      kind.default(kind.prepare({ metadata: {} }, undefined));
    });

    test('is stored the same in whatever encoding it is sent, and when it is sent once more', () => {
      const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, 'k8s.io') };
      const property = fc.property(fc.gen(), (gen) => {
        const object = { ...someValue(kind.root, gen), ...type };
        fc.pre(!JSON.stringify(object).includes('\\\\')); // a key with a backslash is refused
        const stored = settled(kind, object, 'json');
        for (const encoding of ['json', 'yaml', 'protobuf'] as const) {
          assert.deepEqual(settled(kind, object, encoding), stored, encoding);
          assert.deepEqual(settled(kind, stored, encoding), stored, `${encoding} again`);
        }
      });
      fc.assert(property, { numRuns: 40 });
    });

    test('has an empty object that decodes', () => {
      const apiVersion = apiVersionOf(kind, 'k8s.io');
      assert.deepEqual(decodeObject(kind, apiVersion, jsonBody('{}')).object, {
        kind: kind.kind,
        apiVersion,
      });
    });
  });
}

test('no two kinds share a path, and none but views a name with what they show', () => {
  const paths = servedKinds.map((kind: Kind) => `${kind.group}/${kind.version}/${kind.resource}`);
  const own = servedKinds.filter((kind) => kind.storedAs === undefined);
  const names = own.flatMap((kind) => [
    ...new Set([kind.resource, kind.singular]), // Endpoints is both
    ...kind.shortNames,
  ]);
  assert.equal(new Set(paths).size, paths.length);
  assert.equal(new Set(names).size, names.length);
});

/** As in the reference, of the kinds that are served here. */
test('a PUT creates what is not there, and replaces any state, of these kinds only', () => {
  const namesOf = (isOne: (kind: (typeof servedKinds)[number]) => boolean) =>
    [...new Set(servedKinds.filter(isOne).map(({ kind }) => kind))].sort();
  assert.deepEqual(
    namesOf(({ createOnUpdate }) => createOnUpdate),
    [
      ...['ClusterRole', 'ClusterRoleBinding', 'Endpoints', 'Event', 'Lease', 'LimitRange', 'Role'],
      ...['RoleBinding', 'RuntimeClass', 'Service'],
    ],
  );
  assert.deepEqual(
    namesOf(({ unconditionalUpdate }) => !unconditionalUpdate),
    [
      ...['APIService', 'CSIDriver', 'CSINode', 'CSIStorageCapacity', 'ClusterTrustBundle', 'Lease'],
      ...['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding', 'MutatingWebhookConfiguration'],
      ...['PodDisruptionBudget', 'RuntimeClass', 'ValidatingAdmissionPolicy'],
      ...['ValidatingAdmissionPolicyBinding', 'ValidatingWebhookConfiguration', 'VolumeAttachment'],
    ],
  );
});
