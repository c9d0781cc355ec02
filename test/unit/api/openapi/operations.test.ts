import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Kind } from '../../../../src/api/index.ts';
import { defineBody, defineKind, objectStruct, servedKinds } from '../../../../src/api/index.ts';
import type { Operation } from '../../../../src/api/openapi/operations.ts';
import { describePaths } from '../../../../src/api/openapi/operations.ts';

const order = defineBody({
  group: 'policy',
  version: 'v1',
  kind: 'Order',
  doc: 'An order.',
  root: objectStruct('Order', {}),
});
const thing: Kind = defineKind({
  group: 'rbac.authorization',
  version: 'v1',
  kind: 'Thing',
  doc: 'A thing.',
  resource: 'things',
  singular: 'thing',
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  root: objectStruct('Thing', {}),
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], fields: ['status'] },
    { name: 'order', verbs: ['create'], fields: [], body: order },
  ],
});

/** `GET /path` and what is said of it. */
function operations(kind: Kind, groupSuffix = 'k8s.io'): Map<string, Operation & { all: string[] }> {
  const found = describePaths(kind, groupSuffix).flatMap(({ path, parameters, operations: here }) =>
    here.map((operation) => {
      const all = [...parameters, ...operation.parameters].map(({ name }) => name);
      return [`${operation.method.toUpperCase()} ${path}`, { ...operation, all }] as const;
    }),
  );
  return new Map(found);
}

const base = '/apis/rbac.authorization.k8s.io/v1';
const collection = `${base}/namespaces/{namespace}/things`;

describe('the operations of a kind', () => {
  test('are called as generated clients expect', () => {
    const ids = [...operations(thing)].map(([key, { id }]) => `${key} ${id}`);
    assert.deepEqual(ids, [
      `GET ${collection} listRbacAuthorizationV1NamespacedThing`,
      `POST ${collection} createRbacAuthorizationV1NamespacedThing`,
      `DELETE ${collection} deleteRbacAuthorizationV1CollectionNamespacedThing`,
      `GET ${collection}/{name} readRbacAuthorizationV1NamespacedThing`,
      `PUT ${collection}/{name} replaceRbacAuthorizationV1NamespacedThing`,
      `PATCH ${collection}/{name} patchRbacAuthorizationV1NamespacedThing`,
      `DELETE ${collection}/{name} deleteRbacAuthorizationV1NamespacedThing`,
      `GET ${base}/things listRbacAuthorizationV1ThingForAllNamespaces`,
      `GET ${collection}/{name}/status readRbacAuthorizationV1NamespacedThingStatus`,
      `PUT ${collection}/{name}/status replaceRbacAuthorizationV1NamespacedThingStatus`,
      `PATCH ${collection}/{name}/status patchRbacAuthorizationV1NamespacedThingStatus`,
      `POST ${collection}/{name}/order createRbacAuthorizationV1NamespacedThingOrder`,
    ]);
  });

  test('take the parameters of the specification', () => {
    const sorted = (key: string) => operations(thing).get(key)?.all.toSorted();
    const writing = ['dryRun', 'fieldManager', 'fieldValidation', 'name', 'namespace', 'pretty'];
    const list = [
      ...['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit', 'pretty'],
      ...['resourceVersion', 'resourceVersionMatch', 'sendInitialEvents', 'timeoutSeconds', 'watch'],
    ];
    assert.deepEqual(sorted(`GET ${collection}/{name}`), ['name', 'namespace', 'pretty']);
    assert.deepEqual(sorted(`GET ${base}/things`), list);
    assert.deepEqual(sorted(`GET ${collection}`), [...list, 'namespace'].sort());
    assert.deepEqual(sorted(`PUT ${collection}/{name}`), writing);
    const patching = [...writing, 'force'].sort();
    assert.deepEqual(sorted(`PATCH ${collection}/{name}`), patching);
    assert.deepEqual(sorted(`PATCH ${collection}/{name}/status`), patching);
    assert.deepEqual(
      sorted(`POST ${collection}`),
      writing.filter((name) => name !== 'name'),
    );
    assert.deepEqual(sorted(`DELETE ${collection}/{name}`), [
      ...['dryRun', 'gracePeriodSeconds', 'name', 'namespace', 'pretty', 'propagationPolicy'],
    ]);
    assert.deepEqual(sorted(`DELETE ${collection}`), [
      ...['continue', 'dryRun', 'fieldSelector', 'gracePeriodSeconds', 'labelSelector', 'limit', 'namespace'],
      ...['pretty', 'propagationPolicy', 'resourceVersion', 'resourceVersionMatch', 'sendInitialEvents'],
      'timeoutSeconds',
    ]);
  });

  test('say what they take, what they answer, and with which codes', () => {
    const shown = (key: string) => {
      const { body, responses, action, kind } = operations(thing).get(key) ?? assert.fail(key);
      return [
        action,
        `${kind.group}/${kind.version} ${kind.kind}`,
        body?.component,
        responses.component,
        responses.codes,
      ];
    };
    const [it, of] = ['io.k8s.api.rbac.v1.Thing', 'rbac.authorization.k8s.io/v1 Thing'];
    const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
    assert.deepEqual(shown(`GET ${collection}`), ['list', of, undefined, `${it}List`, [200]]);
    assert.deepEqual(shown(`POST ${collection}`), ['post', of, it, it, [200, 201, 202]]);
    assert.deepEqual(shown(`PUT ${collection}/{name}`), ['put', of, it, it, [200, 201]]);
    const patch = `${meta}.Patch`;
    assert.deepEqual(shown(`PATCH ${collection}/{name}`), ['patch', of, patch, it, [200, 201]]);
    assert.deepEqual(shown(`PATCH ${collection}/{name}/status`), ['patch', of, patch, it, [200, 201]]);
    assert.deepEqual(shown(`DELETE ${collection}/{name}`), [
      ...['delete', of, `${meta}.DeleteOptions`, `${meta}.Status`],
      [200, 202],
    ]);
    assert.deepEqual(shown(`DELETE ${collection}`), [
      ...['deletecollection', of, `${meta}.DeleteOptions`, `${meta}.Status`],
      [200],
    ]);
    const other = 'io.k8s.api.policy.v1.Order';
    assert.deepEqual(shown(`POST ${collection}/{name}/order`), [
      ...['post', 'policy/v1 Order', other, other],
      [200, 201, 202],
    ]);
  });

  test('take a patch in each of its four forms', () => {
    for (const place of [`${collection}/{name}`, `${collection}/{name}/status`]) {
      const { body } = operations(thing).get(`PATCH ${place}`) ?? assert.fail(place);
      assert.deepEqual(body?.mediaTypes, [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
        'application/apply-patch+yaml',
      ]);
      assert.equal(body?.required, true);
    }
  });

  test('are under the configured group', () => {
    for (const [key, { kind }] of operations(thing, 'example.com')) {
      assert.match(key, / \/apis\/rbac\.authorization\.example\.com\/v1\//);
      assert.match(kind.group, kind.kind === 'Order' ? /^policy$/ : /\.example\.com$/);
    }
  });

  test('of a kind in no namespace have none', () => {
    for (const kind of servedKinds.filter(({ namespaced }) => !namespaced)) {
      for (const [key, { id, all }] of operations(kind)) {
        assert.doesNotMatch(`${key} ${id}`, /Namespaced|\{namespace\}|ForAll/);
        assert.ok(!all.includes('namespace'), key);
      }
    }
  });
});
