import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadYamlReader } from '../../../../src/api/index.ts';
import { byRule, jane, may, rule, to, toJane } from '../authz/rbac/ask.ts';
import { Policy } from '../authz/rbac/policy.ts';
import { called, why } from './asking.ts';

const readYaml = await loadYamlReader();

describe('what is allowed', () => {
  test('is told with every binding and rule that allows it', async () => {
    const policy = new Policy()
      .role('', 'readers', [rule(), rule({ verbs: ['*'] }), rule({ resources: ['secrets'] })])
      .role('team', 'one', [rule({ resourceNames: ['web'] })])
      .bind('', 'all', { kind: 'ClusterRole', name: 'readers' }, [{ kind: 'Group', name: 'devs' }])
      .bind('team', 'own', { kind: 'Role', name: 'one' }, toJane)
      .bind('other', 'own', { kind: 'ClusterRole', name: 'readers' }, toJane);
    const status = await why(policy, to({ name: 'web' }));
    assert.equal(status.allowed, true);
    assert.equal(status.decidedBy, 'RBAC');
    assert.match(status.reason ?? '', /^RBAC: allowed by ClusterRoleBinding "all"/);
    assert.deepEqual(status.grants, [
      {
        binding: { kind: 'ClusterRoleBinding', name: 'all' },
        role: { kind: 'ClusterRole', name: 'readers' },
        subject: { kind: 'Group', name: 'devs' },
        rules: [rule(), rule({ verbs: ['*'] })],
      },
      {
        binding: { kind: 'RoleBinding', namespace: 'team', name: 'own' },
        role: { kind: 'Role', namespace: 'team', name: 'one' },
        subject: { kind: 'User', name: 'jane' },
        rules: [rule({ resourceNames: ['web'] })],
      },
    ]);
    assert.equal(status.nearMisses, undefined);
    assert.equal(status.remedy, undefined);
  });

  test('names the authorizer that decides, whatever roles say', async () => {
    const masters = await why(new Policy(), to(), called('root', 'system:masters'));
    assert.deepEqual(
      [masters.allowed, masters.decidedBy, masters.grants],
      [true, 'system:masters', undefined],
    );
    const node = called('system:node:a', 'system:nodes');
    const own = await why(new Policy(), to({ resource: 'nodes', name: 'a', namespace: '' }), node);
    assert.deepEqual([own.allowed, own.decidedBy], [true, 'node authorizer']);
  });

  test('is told of so many bindings, and the others are counted', async () => {
    const policy = byRule(rule());
    for (let number = 0; number < 1_004; number++) {
      policy.bind('', `more-${number}`, { kind: 'ClusterRole', name: 'r' }, toJane);
    }
    const { grants = [], moreGrants } = await why(policy);
    assert.deepEqual([grants.length, moreGrants], [1_000, 5]);
  });
});

describe('the least that would allow something', () => {
  const asked = [
    to({ name: 'web' }),
    to({ verb: 'list' }),
    to({ verb: 'create', name: 'web' }),
    to({ verb: 'create', subresource: 'exec', name: 'web' }),
    to({ verb: 'deletecollection', group: 'apps', resource: 'deployments', namespace: '' }),
    to({ verb: '*', group: '*', resource: '*' }),
    { verb: 'get', path: '/metrics' },
    { verb: 'get', path: '/debug/*' },
  ];
  for (const attributes of asked) {
    for (const user of [
      jane,
      called('system:serviceaccount:x:bot'),
      { name: '', groups: ['devs'], extra: {} },
    ]) {
      test(`${JSON.stringify(attributes)} by ${user.name || 'a group'}`, async () => {
        const policy = new Policy();
        const { remedy } = await why(policy, attributes, user);
        assert.ok(remedy);
        const [role, binding] = remedy.manifest.split('---\n').map((text) => Object(readYaml(text).value));
        assert.deepEqual(role.rules, [remedy.rule]);
        const { namespace = '' } = role.metadata;
        assert.equal(namespace, 'path' in attributes ? '' : attributes.namespace);
        assert.equal(binding.metadata.namespace ?? '', namespace);
        policy.role(namespace, role.metadata.name, role.rules);
        assert.equal(may(policy, attributes, user), false);
        policy.bind(namespace, binding.metadata.name, binding.roleRef, binding.subjects);
        assert.equal(may(policy, attributes, user), true, 'applied, it allows it');
      });
    }
  }

  test('is not told where no rule can say it', async () => {
    assert.equal((await why(new Policy(), { verb: 'get', path: '/a*b' })).remedy, undefined);
    assert.equal((await why(new Policy(), to({ resource: '' }))).remedy, undefined);
  });
});

test('the reason of a refusal is what RBAC found wrong', async () => {
  const policy = new Policy().bind('team', 'b', { kind: 'Role', name: 'nope' }, toJane);
  const { decidedBy, reason, errors } = await why(policy);
  assert.equal(decidedBy, undefined);
  assert.match(reason ?? '', /not found/);
  assert.equal(errors?.length, 1);
});
