import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  localSubjectAccessReviewKind,
  selfSubjectAccessReviewKind,
  selfSubjectRulesReviewKind,
  subjectAccessReviewKind,
} from '../../../../../src/api/index.ts';
import { causesOf } from '../causes-of.ts';

const resourceAttributes = { verb: 'get', resource: 'pods' };
const nonResourceAttributes = { verb: 'get', path: '/healthz' };

const ofSpec = (spec: object) => causesOf(subjectAccessReviewKind, { spec });
const ofSelfSpec = (spec: object) => causesOf(selfSubjectAccessReviewKind, { spec });
const ofResource = (more: object) => ofSelfSpec({ resourceAttributes: { ...resourceAttributes, ...more } });

const both =
  'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/healthz"}: cannot be specified in combination with resourceAttributes';
const neither =
  'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified';
const nobody = 'spec.user: Invalid value: "": at least one of user or group must be specified';

describe('a review of access', () => {
  test('asks about exactly one action', () => {
    assert.deepEqual(ofSelfSpec({ resourceAttributes }), []);
    assert.deepEqual(ofSelfSpec({ nonResourceAttributes }), []);
    assert.deepEqual(ofSelfSpec({ resourceAttributes: {} }), [], 'of which nothing need be told');
    assert.deepEqual(ofSelfSpec({ resourceAttributes, nonResourceAttributes }), [both]);
    assert.deepEqual(ofSelfSpec({}), [neither]);
    assert.deepEqual(causesOf(selfSubjectAccessReviewKind, {}), ['spec: Required value']);
  });

  test('of somebody else names a user or a group', () => {
    assert.deepEqual(ofSpec({ resourceAttributes, user: 'jane' }), []);
    assert.deepEqual(ofSpec({ resourceAttributes, groups: ['devs'] }), []);
    assert.deepEqual(ofSpec({ resourceAttributes }), [nobody]);
    assert.deepEqual(ofSpec({ resourceAttributes, user: '', groups: [], uid: '1' }), [nobody]);
    assert.deepEqual(ofSpec({ resourceAttributes, nonResourceAttributes }), [both, nobody]);
    assert.deepEqual(ofSpec({}), [neither, nobody]);
  });

  test('has no metadata but managedFields, which clients need not know', () => {
    const managedFields = [{ manager: 'kubectl', operation: 'Update' }];
    for (const kind of [subjectAccessReviewKind, selfSubjectAccessReviewKind]) {
      const spec = { resourceAttributes, user: 'jane' };
      assert.deepEqual(causesOf(kind, { metadata: { managedFields }, spec }), []);
      assert.deepEqual(
        causesOf(kind, { metadata: { name: '', labels: {}, creationTimestamp: null }, spec }),
        [],
      );
      assert.deepEqual(causesOf(kind, { metadata: { name: 'a' }, spec }), [
        'metadata: Invalid value: {"name":"a"}: must be empty',
      ]);
      assert.deepEqual(causesOf(kind, { metadata: { labels: { a: 'b' } }, spec }), [
        'metadata: Invalid value: {"labels":{"a":"b"}}: must be empty',
      ]);
    }
  });
});

describe('a review within a namespace', () => {
  const of = (metadata: object, spec: object) =>
    causesOf(localSubjectAccessReviewKind, { metadata, spec: { user: 'jane', ...spec } });
  const inTeam = { ...resourceAttributes, namespace: 'team' };

  test('asks about that namespace', () => {
    assert.deepEqual(of({ namespace: 'team' }, { resourceAttributes: inTeam }), []);
    assert.deepEqual(of({ namespace: 'other' }, { resourceAttributes: inTeam }), [
      'spec.resourceAttributes.namespace: Invalid value: "team": must match metadata.namespace',
    ]);
  });

  test('asks about no path', () => {
    assert.deepEqual(of({ namespace: 'team' }, { nonResourceAttributes }), [
      'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/healthz"}: disallowed on this kind of request',
    ]);
  });

  test('has no other metadata', () => {
    assert.deepEqual(of({ namespace: 'team', name: 'a' }, { resourceAttributes: inTeam }), [
      'metadata: Invalid value: {"name":"a"}: must be empty except for namespace',
    ]);
  });
});

for (const name of ['fieldSelector', 'labelSelector']) {
  describe(`the ${name} of a review`, () => {
    const path = `spec.resourceAttributes.${name}`;
    const of = (...requirements: object[]) => ofResource({ [name]: { requirements } });

    test('may be a text, requirements, or nothing', () => {
      assert.deepEqual(ofResource({ [name]: { rawSelector: 'a=b' } }), []);
      assert.deepEqual(ofResource({ [name]: { rawSelector: 'no(selector' } }), [], 'it narrows nothing then');
      assert.deepEqual(ofResource({ [name]: {} }), []);
      assert.deepEqual(of({ key: 'a', operator: 'In', values: ['b'] }, { key: 'a', operator: 'Exists' }), []);
    });

    test('has values exactly where its operator takes some', () => {
      for (const operator of ['In', 'NotIn']) {
        assert.deepEqual(of({ key: 'a', operator, values: ['b'] }), []);
        assert.deepEqual(of({ key: 'a', operator }), [
          `${path}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
        ]);
      }
      for (const operator of ['Exists', 'DoesNotExist']) {
        assert.deepEqual(of({ key: 'a', operator }), []);
        assert.deepEqual(of({ key: 'a', operator, values: ['b'] }), [
          `${path}.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
        ]);
      }
    });

    test('has a key and an operator, which need not be known', () => {
      assert.deepEqual(of({ key: 'a', operator: 'LongerThan', values: ['3'] }), []);
      assert.deepEqual(of({ key: '', operator: '' }), [
        `${path}.requirements[0].key: Required value: must be specified`,
        `${path}.requirements[0].operator: Required value: must be specified`,
      ]);
      assert.deepEqual(of({}), [
        `${path}.requirements[0].key: Required value`,
        `${path}.requirements[0].operator: Required value`,
      ]);
    });

    test('is checked in every review of access', () => {
      const attributes = {
        resourceAttributes: { namespace: 'n', [name]: { requirements: [{ key: 'a', operator: 'In' }] } },
      };
      const spec = { ...attributes, user: 'jane' };
      assert.equal(causesOf(subjectAccessReviewKind, { spec }).length, 1);
      assert.equal(causesOf(localSubjectAccessReviewKind, { metadata: { namespace: 'n' }, spec }).length, 1);
    });
  });
}

test('labels in a selector are labels, fields are anything', () => {
  const requirements = [{ key: 'a b', operator: 'In', values: ['c d'] }];
  assert.deepEqual(ofResource({ fieldSelector: { requirements } }), []);
  const causes = ofResource({ labelSelector: { requirements } });
  assert.deepEqual(
    causes.map((text) => text.split(':', 1)[0]),
    ['key', 'values[0]'].map((part) => `spec.resourceAttributes.labelSelector.requirements[0].${part}`),
  );
});

test('the reviews can only be created, and nothing of them is kept', () => {
  for (const kind of [
    subjectAccessReviewKind,
    selfSubjectAccessReviewKind,
    localSubjectAccessReviewKind,
    selfSubjectRulesReviewKind,
  ]) {
    assert.deepEqual([kind.verbs, kind.virtual, kind.group], [['create'], true, 'authorization']);
    assert.equal(kind.namespaced, kind === localSubjectAccessReviewKind);
  }
});
