import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Components } from '../../../../src/api/openapi/components.ts';
import { openApi3, swagger2 } from '../../../../src/api/openapi/schema.ts';
import type { Fields, StructType, Type } from '../../../../src/api/schema/index.ts';
import {
  bool,
  bytes,
  double,
  duration,
  field,
  fieldsV1,
  int32,
  int64,
  intOrString,
  list,
  map,
  microTime,
  quantity,
  raw,
  required,
  string,
  struct,
  time,
} from '../../../../src/api/schema/index.ts';

const home = 'rbac.authorization/v1';

/** The schema of one struct with these fields. */
function schemaOf(fields: Fields, dialect = openApi3) {
  const components = new Components(dialect);
  const name = components.add(struct('Thing', fields), home);
  return { schema: components.schemas.get(name), components };
}

/** The schema of a field of a type, without its description. */
function fieldOf(type: Type, dialect = openApi3) {
  const { schema } = schemaOf({ it: field(1, type, 'A field.') }, dialect);
  const { description, ...rest } = schema?.properties?.['it'] ?? {};
  assert.equal(description, 'A field.');
  return rest;
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

describe('the schema of a field', () => {
  test('has the type and format of its scalar', () => {
    assert.deepEqual(fieldOf(string), { type: 'string' });
    assert.deepEqual(fieldOf(bool), { type: 'boolean' });
    assert.deepEqual(fieldOf(int32), { type: 'integer', format: 'int32' });
    assert.deepEqual(fieldOf(int64), { type: 'integer', format: 'int64' });
    assert.deepEqual(fieldOf(double), { type: 'number', format: 'double' });
    assert.deepEqual(fieldOf(bytes), { type: 'string', format: 'byte' });
  });

  test('refers to the component of what has one, in the way of each version', () => {
    const names = [
      [time, `${meta}.Time`],
      [microTime, `${meta}.MicroTime`],
      [duration, `${meta}.Duration`],
      [fieldsV1, `${meta}.FieldsV1`],
      [raw, 'io.k8s.apimachinery.pkg.runtime.RawExtension'],
      [quantity, 'io.k8s.apimachinery.pkg.api.resource.Quantity'],
      [intOrString, 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'],
    ] as const;
    for (const [type, name] of names) {
      assert.deepEqual(fieldOf(type, swagger2), { $ref: `#/definitions/${name}` });
      assert.deepEqual(fieldOf(type, openApi3), { allOf: [{ $ref: `#/components/schemas/${name}` }] });
    }
  });

  test('may be a number or text, as far as the version can say that', () => {
    const fields = { port: field(1, intOrString, 'A port.'), amount: field(2, quantity, 'An amount.') };
    const shown = (dialect = openApi3) =>
      [...schemaOf(fields, dialect).components.schemas.values()].slice(1).map(({ description, ...rest }) => {
        assert.ok(description);
        return rest;
      });
    assert.deepEqual(shown(swagger2), [{ type: 'string', format: 'int-or-string' }, { type: 'string' }]);
    assert.deepEqual(shown(openApi3), [
      { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
    ]);
  });

  test('tells how a list merges under apply and under a patch', () => {
    assert.deepEqual(fieldOf(list(string)), {
      type: 'array',
      items: { type: 'string', default: '' },
      'x-kubernetes-list-type': 'atomic',
    });
    const item = struct('Item', { key: required(1, string, 'A key.') });
    const merged = list(item, {
      list: 'map',
      keys: ['key'],
      patch: { merge: true, retainKeys: true, key: 'key' },
    });
    assert.deepEqual(fieldOf(merged, swagger2), {
      type: 'array',
      items: { $ref: '#/definitions/io.k8s.api.rbac.v1.Item' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['key'],
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
      'x-kubernetes-patch-merge-key': 'key',
    });
  });

  test('tells of a map what its values are, and whether it is replaced as a whole', () => {
    assert.deepEqual(fieldOf(map(quantity), swagger2), {
      type: 'object',
      additionalProperties: { $ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity' },
    });
    assert.deepEqual(fieldOf(map(list(string), { atomic: true })), {
      type: 'object',
      additionalProperties: {
        type: 'array',
        items: { type: 'string', default: '' },
        'x-kubernetes-list-type': 'atomic',
      },
      'x-kubernetes-map-type': 'atomic',
    });
  });
});

describe('the schema of a struct', () => {
  test('names what must be there, with what it is taken for in OpenAPI 3', () => {
    const inner = struct('Inner', { a: field(1, string, 'A.') });
    const fields = {
      name: required(1, string, 'A name.'),
      count: required(2, int32, 'A count.'),
      inner: required(3, inner, 'A struct.'),
      items: required(4, list(string), 'A list.'),
      at: required(5, time, 'A time.'),
      note: field(6, string, 'A note.'),
    };
    const { schema } = schemaOf(fields);
    assert.deepEqual(schema?.required, ['name', 'count', 'inner', 'items', 'at']);
    const defaults = Object.entries(schema?.properties ?? {}).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value]],
    );
    assert.deepEqual(defaults, [
      ['name', ''],
      ['count', 0],
      ['inner', {}],
    ]);
    assert.doesNotMatch(JSON.stringify(schemaOf(fields, swagger2).schema), /"default"/);
  });

  test('tells what a field is taken for that its description gives a default, in OpenAPI 3', () => {
    const inner = struct('Inner', { a: field(1, string, 'A.') });
    const fields = {
      protocol: required(1, string, 'A protocol.', { default: 'TCP' }),
      mode: field(2, int32, 'A mode.', { default: 420, pointer: true }),
      inner: field(3, inner, 'A struct.', { default: {} }),
    };
    const { properties = {} } = schemaOf(fields).schema ?? {};
    const defaults = Object.entries(properties).map(([name, { default: value }]) => [name, value]);
    assert.deepEqual(defaults, [
      ['protocol', 'TCP'],
      ['mode', 420],
      ['inner', {}],
    ]);
    assert.doesNotMatch(JSON.stringify(schemaOf(fields, swagger2).schema), /"default"/);
  });

  test('that is replaced as a whole says so', () => {
    const components = new Components(openApi3);
    const name = components.add(struct('Ref', { a: field(1, string, 'A.') }, { atomic: true }), home);
    assert.equal(components.schemas.get(name)?.['x-kubernetes-map-type'], 'atomic');
  });

  test('that holds itself refers to itself', () => {
    interface Props extends StructType {}
    const props: Props = struct('Props', {
      inner: field(1, { t: 'ref', name: 'Props', resolve: () => props }, 'The same again.'),
    });
    const components = new Components(swagger2);
    const name = components.add(props, home);
    assert.deepEqual([...components.schemas.keys()], [name]);
    assert.equal(components.schemas.get(name)?.properties?.['inner']?.$ref, `#/definitions/${name}`);
  });
});

test('a struct lives where it says, else where what holds it lives', () => {
  const deepest = struct('Deepest', { a: field(1, string, 'A.') });
  const shared = struct('Shared', { deepest: field(1, deepest, 'Deepest.') }, { home: 'meta/v1' });
  const foreign = struct('Foreign', { a: field(1, string, 'A.') }, { home: 'core/v1' });
  const own = struct('Own', { shared: field(1, shared, 'Shared.'), foreign: field(2, foreign, 'Foreign.') });
  const components = new Components(openApi3);
  components.add(own, home);
  assert.deepEqual(
    [...components.schemas.keys()],
    ['io.k8s.api.rbac.v1.Own', `${meta}.Shared`, `${meta}.Deepest`, 'io.k8s.api.core.v1.Foreign'],
  );
});
