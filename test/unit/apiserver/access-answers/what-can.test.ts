import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jane, rule, toJane } from '../authz/rbac/ask.ts';
import { Policy } from '../authz/rbac/policy.ts';
import { called, what } from './asking.ts';

const self = {
  verbs: ['create'],
  apiGroups: ['authorization.k8s.io'],
  resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
};
const whoami = { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] };

const policy = () =>
  new Policy()
    .role('', 'readers', [rule(), { verbs: ['get'], nonResourceURLs: ['/metrics'] }])
    .role('', 'writers', [rule({ verbs: ['update'] }), rule({ verbs: ['get'] })]);

describe('what somebody can do', () => {
  test('is told in few rules, of each namespace what its own bindings add', async () => {
    const all = policy()
      .bind('', 'all', { kind: 'ClusterRole', name: 'readers' }, [{ kind: 'Group', name: 'devs' }])
      .bind('b', 'own', { kind: 'ClusterRole', name: 'readers' }, toJane)
      .bind('a', 'one', { kind: 'ClusterRole', name: 'writers' }, toJane)
      .bind('a', 'two', { kind: 'ClusterRole', name: 'readers' }, toJane)
      .bind('c', 'others', { kind: 'ClusterRole', name: 'readers' }, [{ kind: 'User', name: 'joe' }]);
    const everywhere = {
      resourceRules: [self, whoami, rule()],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
    };
    const inA = { namespace: 'a', resourceRules: [rule({ verbs: ['update', 'get'] })] };
    assert.deepEqual((await what(all)).namespaces, [
      everywhere,
      inA,
      { namespace: 'b', resourceRules: [rule()] },
    ]);
    assert.deepEqual((await what(all, jane, 'a')).namespaces, [everywhere, inA]);
  });

  test('is everything for masters, and may be more than can be listed for node agents', async () => {
    const masters = await what(new Policy(), called('root', 'system:masters'));
    assert.deepEqual(masters.namespaces?.[0]?.resourceRules?.[0]?.verbs, ['*']);
    assert.equal(masters.incomplete, undefined);
    const node = await what(new Policy(), called('system:node:a', 'system:nodes'));
    assert.equal(node.incomplete, true);
    assert.deepEqual(node.errors, ['node authorizer does not support user rule resolution']);
  });

  test('is bounded, and tells how many namespaces are left out', async () => {
    const all = policy();
    for (let number = 0; number < 1_200; number++) {
      all.bind(`ns-${number}`, 'b', { kind: 'ClusterRole', name: 'readers' }, toJane);
    }
    const { namespaces = [], moreNamespaces = 0 } = await what(all);
    assert.ok(namespaces.length <= 1_000);
    assert.equal(namespaces.length - 1 + moreNamespaces, 1_200);
  });

  test('tells of roles that do not exist, in the namespaces where they are given', async () => {
    const all = policy().bind('a', 'b', { kind: 'Role', name: 'nope' }, toJane);
    assert.match((await what(all)).errors?.[0] ?? '', /"nope" not found$/);
  });
});
