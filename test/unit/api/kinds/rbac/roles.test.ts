import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { clusterRoleKind, roleKind } from '../../../../../src/api/index.ts';
import { causesOf } from '../causes-of.ts';

const ofRole = (...rules: object[]) => causesOf(roleKind, { rules });
const ofClusterRole = (...rules: object[]) => causesOf(clusterRoleKind, { rules });

const readPods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const readHealth = { verbs: ['get'], nonResourceURLs: ['/healthz'] };

describe('a rule', () => {
  test('is about resources in groups, perhaps by name', () => {
    for (const causes of [ofRole, ofClusterRole]) {
      assert.deepEqual(causes(), []);
      assert.deepEqual(causes(readPods), []);
      assert.deepEqual(causes({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }), []);
      assert.deepEqual(
        causes({ ...readPods, resources: ['pods', '*/scale'], resourceNames: ['a', 'b'] }),
        [],
      );
    }
    assert.deepEqual(causesOf(roleKind, {}), [], 'and there may be none at all');
  });

  test('has at least one verb, whether the list is empty or absent', () => {
    const wanted = (index: number) =>
      `rules[${index}].verbs: Required value: verbs must contain at least one value`;
    assert.deepEqual(ofRole(readPods, { apiGroups: [''], resources: ['pods'] }, { ...readPods, verbs: [] }), [
      wanted(1),
      wanted(2),
    ]);
    assert.deepEqual(ofClusterRole({ nonResourceURLs: ['/healthz'] }), [wanted(0)]);
  });

  test('about resources has groups and resources', () => {
    assert.deepEqual(ofClusterRole({ verbs: ['get'] }), [
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ]);
    assert.deepEqual(ofRole({ verbs: ['get'], apiGroups: [''], resourceNames: ['a'] }), [
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ]);
    assert.deepEqual(ofRole({ verbs: ['get'], resources: ['pods'] }), [
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
    ]);
  });

  test('about paths stands in a ClusterRole only', () => {
    assert.deepEqual(ofClusterRole(readHealth), []);
    assert.deepEqual(ofRole(readHealth), [
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
    ]);
  });

  test('is about resources or about paths', () => {
    const both =
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs';
    for (const more of [{ apiGroups: [''] }, { resources: ['pods'] }, { resourceNames: ['a'] }]) {
      assert.deepEqual(ofClusterRole({ ...readHealth, ...more }), [both]);
    }
    assert.deepEqual(ofClusterRole({ ...readHealth, apiGroups: [], resources: [], resourceNames: [] }), []);
    assert.equal(ofRole({ ...readHealth, ...readPods }).length, 2);
  });

  test('has a * in a path only as the whole last segment', () => {
    for (const url of ['*', '/*', '/healthz', '/healthz/*', '/a/b/*', '']) {
      assert.deepEqual(ofClusterRole({ verbs: ['get'], nonResourceURLs: [url] }), [], url);
    }
    for (const url of ['/healthz*', '/*/a', '/a/*/b', '/a/**', '**', '*a', '/a/*?', '/*/*']) {
      assert.deepEqual(ofClusterRole({ verbs: ['get'], nonResourceURLs: ['/a', url] }), [
        `rules[0].nonResourceURLs[1]: Invalid value: ${JSON.stringify(url)}: '*' is allowed only as the whole last segment of a path, or alone`,
      ]);
    }
  });

  test('about a path is good exactly when no segment but the last one has a *, and that one is one', () => {
    const segment = fc.string({ unit: fc.constantFrom('a', '*', '.'), maxLength: 3 });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const last = segments.at(-1) ?? '';
        const isGood =
          segments.slice(0, -1).every((each) => !each.includes('*')) && (last === '*' || !last.includes('*'));
        const causes = ofClusterRole({ verbs: ['get'], nonResourceURLs: [segments.join('/')] });
        assert.equal(causes.length === 0, isGood);
      }),
    );
  });

  test('that is wrong in many ways is told of a bounded number of times', () => {
    const nonResourceURLs = Array.from({ length: 5000 }, () => 'a*b');
    assert.ok(ofClusterRole({ verbs: ['get'], nonResourceURLs }).length <= 200);
    assert.ok(ofRole(...Array.from({ length: 5000 }, () => ({}))).length <= 200);
  });
});

describe('an aggregation rule', () => {
  const of = (aggregationRule: object) => causesOf(clusterRoleKind, { aggregationRule });

  test('selects roles by their labels, in one or several ways', () => {
    const byLabel = { matchLabels: { 'rbac.example.com/aggregate-to-view': 'true' } };
    const byExpression = { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] };
    assert.deepEqual(of({ clusterRoleSelectors: [byLabel, byExpression, {}] }), []);
  });

  test('has at least one selector', () => {
    const path = 'aggregationRule.clusterRoleSelectors';
    const wanted = `${path}: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`;
    assert.deepEqual(of({}), [wanted]);
    assert.deepEqual(of({ clusterRoleSelectors: [] }), [wanted]);
  });

  test('has selectors that can be understood', () => {
    const path = 'aggregationRule.clusterRoleSelectors[1]';
    const wrong = { matchExpressions: [{ key: 'a', operator: 'Near' }] };
    assert.deepEqual(of({ clusterRoleSelectors: [{}, wrong] }), [
      `${path}.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
    ]);
    assert.deepEqual(of({ clusterRoleSelectors: [{}, { matchExpressions: [{ operator: 'In' }] }] }), [
      `${path}.matchExpressions[0].key: Required value`,
    ]);
  });
});
