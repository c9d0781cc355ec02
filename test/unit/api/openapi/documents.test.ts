import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Verb } from '../../../../src/api/index.ts';
import { groupName, servedKinds } from '../../../../src/api/index.ts';
import { componentName, homeOf } from '../../../../src/api/openapi/names.ts';
import type { Schema } from '../../../../src/api/openapi/schema.ts';
import type { StructType, Type } from '../../../../src/api/schema/index.ts';
import {
  objectTypes,
  openApi3Of,
  operationsIn,
  referencesIn,
  swagger2Of,
  targetOf,
} from './document-parts.ts';

const v2 = swagger2Of();
const v3 = openApi3Of();
const documents = [
  ['Swagger 2.0', v2, v2.definitions],
  ['OpenAPI 3.0', v3, v3.components.schemas],
] as const;

/** Every path of an object or of a part of one, and whether `verb` is served there. */
function pathsByVerb(verb: Verb): Map<string, { path: string; served: boolean; kind: object }> {
  const found = servedKinds.flatMap((kind) => {
    const { version, namespaced, resource } = kind;
    const group = groupName(kind.group, 'k8s.io');
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const path = `${base}/${namespaced ? 'namespaces/{namespace}/' : ''}${resource}/{name}`;
    const parts = kind.subresources
      .filter(({ connects }) => !connects)
      .map(({ name, verbs, view, body }) => ({
        path: `${path}/${name}`,
        verbs,
        form: view === undefined ? kind : (body ?? kind),
      }));
    return [{ path, verbs: kind.verbs, form: kind }, ...parts].map((place) => {
      const { form } = place;
      const known = { group: groupName(form.group, 'k8s.io'), version: form.version, kind: form.kind };
      return [place.path, { path: place.path, served: place.verbs.includes(verb), kind: known }] as const;
    });
  });
  return new Map(found);
}

/** Goes the way of `kubectl explain --recursive`: fails where a field has no description or no type. */
function explain(type: Type, schema: Schema, schemas: Readonly<Record<string, Schema>>, path: string): void {
  const target = targetOf(schema, schemas);
  assert.ok(target.type !== undefined || target.oneOf !== undefined, `${path} has no type`);
  if (type.t === 'list') {
    assert.equal(target.type, 'array', path);
    explain(type.of, target.items ?? {}, schemas, `${path}[]`);
  }
  if (type.t === 'map') {
    assert.equal(target.type, 'object', path);
    explain(type.of, target.additionalProperties ?? {}, schemas, `${path}{}`);
  }
  if (type.t !== 'struct' || path.length > 200) return;
  const properties = target.properties ?? {};
  assert.deepEqual(Object.keys(properties), Object.keys(type.fields), path);
  for (const [name, field] of Object.entries(type.fields)) {
    assert.equal(properties[name]?.description, field.doc, `${path}.${name}`);
    assert.equal(target.required?.includes(name) ?? false, field.required, `${path}.${name}`);
    explain(field.type, properties[name] ?? {}, schemas, `${path}.${name}`);
  }
}

for (const [name, document, schemas] of documents) {
  describe(`the ${name} document of all kinds`, () => {
    test('explains every field of every kind', () => {
      for (const type of objectTypes()) {
        const known = { group: groupName(type.group, 'k8s.io'), version: type.version, kind: type.kind };
        const found = Object.values(schemas).filter(({ 'x-kubernetes-group-version-kind': kinds = [] }) =>
          kinds.some((each) => JSON.stringify(each) === JSON.stringify(known)),
        );
        assert.equal(found.length, 1, `one schema for ${JSON.stringify(known)}`);
        explain(type.root, found[0] ?? {}, schemas, type.kind);
      }
    });

    test('has a list for every kind that can be listed', () => {
      for (const kind of servedKinds) {
        const list = schemas[componentName(homeOf(kind), `${kind.kind}List`)];
        assert.equal(list !== undefined, kind.verbs.includes('list'), kind.kind);
        if (list === undefined) continue;
        assert.deepEqual(list.required, ['items']);
        assert.deepEqual(list['x-kubernetes-group-version-kind'], [
          { group: groupName(kind.group, 'k8s.io'), version: kind.version, kind: `${kind.kind}List` },
        ]);
        const item = targetOf(list.properties?.['items']?.items ?? {}, schemas);
        assert.equal(item, schemas[componentName(homeOf(kind), kind.kind)]);
      }
    });

    test('refers to nothing that is not in it, and holds nothing that is not referred to', () => {
      const references = new Set(referencesIn(document).map((ref) => ref.split('/').at(-1) ?? ''));
      assert.deepEqual(
        [...references].filter((ref) => schemas[ref] === undefined),
        [],
      );
      assert.deepEqual(
        Object.keys(schemas).filter((each) => !references.has(each)),
        [],
      );
    });

    test('has a patch on each path whose verbs have one, as kubectl looks for it', () => {
      for (const [key, place] of pathsByVerb('patch')) {
        const operation = document.paths[place.path]?.patch;
        assert.equal(operation !== undefined, place.served, `PATCH ${key}`);
        if (operation === undefined) continue;
        // by these two kubectl knows whether it may ask for a dry run, and whether the server validates
        const { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind } = operation;
        assert.deepEqual({ action, kind }, { action: 'patch', kind: place.kind }, key);
        const parameters = operation.parameters?.filter(({ in: where }) => where === 'query');
        assert.deepEqual(
          parameters?.map((each) => each.name),
          ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
          key,
        );
      }
    });

    test('names every operation differently', () => {
      const ids = [...operationsIn(document.paths).values()].map(({ operationId }) => operationId);
      assert.equal(new Set(ids).size, ids.length);
    });
  });
}

/** A schema of OpenAPI 3.0 as Swagger 2.0 has it. */
function asSwagger2(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asSwagger2);
  if (typeof value === 'string') return value.replace('#/components/schemas/', '#/definitions/');
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key === 'default') return [];
    if (key === 'oneOf') return [['type', 'string']];
    if (key === 'allOf')
      return Object.entries(Object.assign({}, ...inner)).map(([k, v]) => [k, asSwagger2(v)]);
    return [[key, key === 'properties' ? eachAsSwagger2(inner) : asSwagger2(inner)]];
  });
  return Object.fromEntries(entries);
}

/** Properties may be called like the words of a schema. */
function eachAsSwagger2(properties: object): object {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asSwagger2(schema)]));
}

describe('the two documents agree', () => {
  test('in what they say of each component', () => {
    assert.deepEqual(eachAsSwagger2(v3.components.schemas), v2.definitions);
  });

  test('in the operations, their parameters, bodies and answers', () => {
    const shown = (paths: typeof v2.paths) =>
      [...operationsIn(paths)].map(([key, operation]) => ({
        key,
        id: operation.operationId,
        action: operation['x-kubernetes-action'],
        kind: operation['x-kubernetes-group-version-kind'],
        parameters:
          operation.parameters?.filter(({ in: place }) => place !== 'body').map(({ name }) => name) ?? [],
        codes: Object.keys(operation.responses),
        components: [...new Set(referencesIn(operation).map((ref) => ref.split('/').at(-1)))].sort(),
      }));
    // the same order of parameters, but Swagger's body stands before them
    assert.deepEqual(shown(v3.paths), shown(v2.paths));
  });

  test('whether the groups are looked at one by one or together', () => {
    for (const [, kinds] of Map.groupBy(servedKinds, ({ group, version }) => `${group}/${version}`)) {
      const { paths, components } = openApi3Of(kinds);
      for (const [path, item] of Object.entries(paths)) assert.deepEqual(item, v3.paths[path], path);
      for (const [name, schema] of Object.entries(components.schemas)) {
        const whole = v3.components.schemas[name];
        // a claim is a kind of another group, and a part of a StatefulSet
        const isPart = name === 'io.k8s.api.core.v1.PersistentVolumeClaim' && kinds[0]?.group !== '';
        if (isPart) assert.deepEqual(schema.properties, whole?.properties, name);
        else assert.deepEqual(schema, whole, name);
      }
    }
  });
});

test('a struct is one component however it is reached, and a component is one struct', () => {
  const names = new Map<StructType, Set<string>>();
  const structs = new Map<string, Set<StructType>>();
  const visit = (type: Type, inherited: string): void => {
    if (type.t === 'list' || type.t === 'map') visit(type.of, inherited);
    const struct = type.t === 'ref' ? type.resolve() : type;
    if (struct.t !== 'struct') return;
    const home = struct.home ?? inherited;
    const name = componentName(home, struct.name);
    if (names.get(struct)?.has(name)) return;
    names.set(struct, (names.get(struct) ?? new Set()).add(name));
    structs.set(name, (structs.get(name) ?? new Set()).add(struct));
    for (const field of Object.values(struct.fields)) visit(field.type, home);
  };
  for (const type of objectTypes()) visit(type.root, homeOf(type));
  const strays = [...names.values()]
    .filter((found) => found.size > 1)
    .map((found) => [...found].join(' and '));
  // two types of the reference that are alike
  const alike = ['io.k8s.api.core.v1.EventSeries and io.k8s.api.events.v1.EventSeries'];
  assert.deepEqual(
    strays.filter((stray) => !alike.includes(stray)),
    [],
    'one struct under two names: give it a home',
  );
  // structs that differ only in how they merge in one place, with the same fields
  const fieldsOf = (found: Set<StructType>) => new Set([...found].map(({ fields }) => fields));
  const doubles = [...structs].filter(([, found]) => fieldsOf(found).size > 1).map(([name]) => name);
  assert.deepEqual(doubles, [], 'two structs under one name');
});
