import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readAuditPolicy } from '../../../../src/apiserver/audit/index.ts';

const typed = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' };
const policyOf = (...rules: object[]) => readAuditPolicy({ ...typed, rules }, 'policy.yaml');

interface Asked {
  user?: string;
  groups?: string[];
  verb?: string;
  group?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  path?: string;
}

function levelOf(policy: ReturnType<typeof policyOf>, asked: Asked): string {
  const { user = 'alice', groups = [], verb = 'get', path, ...of } = asked;
  const resource = {
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'a',
    name: 'x',
    ...of,
  };
  const attributes = path === undefined ? { verb, ...resource } : { verb, path };
  return policy.judge({ user: { name: user, groups, extra: {} }, attributes }).level;
}

describe('a rule of an audit policy', () => {
  const cases: [string, object, Asked, Asked][] = [
    ['users', { users: ['alice', 'bob'] }, { user: 'bob' }, { user: 'carol' }],
    ['userGroups', { userGroups: ['ops'] }, { groups: ['x', 'ops'] }, { groups: ['x'] }],
    ['verbs', { verbs: ['watch'] }, { verb: 'watch' }, { verb: 'list' }],
    ['namespaces', { namespaces: ['a'] }, {}, { namespace: 'b' }],
    ['namespaces, for what has none', { namespaces: [''] }, { namespace: '' }, {}],
    ['namespaces, not for paths', { namespaces: ['a'] }, {}, { path: '/metrics' }],
    ['resources of a group', { resources: [{ group: 'g' }] }, { group: 'g' }, { group: 'h' }],
    ['the core group', { resources: [{ resources: ['pods'] }] }, {}, { group: 'g' }],
    [
      'a resource, not what is below it',
      { resources: [{ resources: ['pods'] }] },
      {},
      { subresource: 'log' },
    ],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, { subresource: 'log' }, {}],
    [
      'every subresource of a resource, but not that itself',
      { resources: [{ resources: ['pods/*'] }] },
      { subresource: 'status' },
      {},
    ],
    [
      'a subresource of every resource',
      { resources: [{ resources: ['*/status'] }] },
      { resource: 'nodes', subresource: 'status' },
      { subresource: 'log' },
    ],
    ['names', { resources: [{ resources: ['pods'], resourceNames: ['x'] }] }, {}, { name: 'y' }],
    ['paths', { nonResourceURLs: ['/metrics'] }, { path: '/metrics' }, { path: '/metrics/x' }],
    ['paths below one', { nonResourceURLs: ['/healthz*'] }, { path: '/healthz/ping' }, { path: '/livez' }],
    ['paths, not resources', { nonResourceURLs: ['*'] }, { path: '/x' }, {}],
  ];
  for (const [name, rule, fits, misses] of cases) {
    test(`fits ${name}`, () => {
      const policy = policyOf({ level: 'Request', ...rule });
      assert.equal(levelOf(policy, fits), 'Request');
      assert.equal(levelOf(policy, misses), 'None');
    });
  }

  test('decides before those behind it', () => {
    const policy = policyOf({ level: 'None', users: ['alice'] }, { level: 'RequestResponse' });
    assert.equal(levelOf(policy, {}), 'None');
    assert.equal(levelOf(policy, { user: 'bob' }), 'RequestResponse');
  });

  test('leaves out its stages and those of the policy', () => {
    const rules = [{ level: 'Metadata', omitStages: ['ResponseStarted'] }];
    const policy = readAuditPolicy({ ...typed, omitStages: ['RequestReceived'], rules }, 'p');
    const { omitStages } = policy.judge({
      user: { name: 'a', groups: [], extra: {} },
      attributes: { verb: 'get', path: '/' },
    });
    assert.deepEqual([...omitStages], ['RequestReceived', 'ResponseStarted']);
  });
});

describe('bodies that are secrets', () => {
  test('are kept by no rule but one that names them', () => {
    const all = policyOf({ level: 'RequestResponse', resources: [{ resources: ['*'] }, { group: 'g' }] });
    const named = policyOf({ level: 'RequestResponse', resources: [{ resources: ['secrets'] }] });
    assert.equal(levelOf(all, {}), 'RequestResponse');
    assert.equal(levelOf(all, { resource: 'secrets' }), 'Metadata');
    assert.equal(levelOf(all, { group: 'g', resource: 'tokenreviews' }), 'Metadata');
    assert.equal(
      levelOf(policyOf({ level: 'Request' }), { resource: 'serviceaccounts', subresource: 'token' }),
      'Metadata',
    );
    assert.equal(levelOf(named, { resource: 'secrets' }), 'RequestResponse');
  });
});

test('all that is wrong with a policy is told at once, by its path', () => {
  const rules = [
    { level: 'Loud', users: 'alice', omitStages: ['Never'], who: 1 },
    { resources: [{ group: 1, resources: [2], names: [] }], nonResourceURLs: ['/x'] },
    7,
  ];
  assert.throws(
    () => readAuditPolicy({ apiVersion: 'v1', kind: 'Policies', rule: [], rules }, 'p.yaml'),
    (error) => {
      assert.ok(error instanceof Error);
      for (const part of [
        'the audit policy p.yaml cannot be used: ',
        'rule is no field',
        'apiVersion must be audit.k8s.io/v1',
        'kind must be Policy',
        'rules[0].who is no field',
        'rules[0].users must be a list',
        'rules[0].level must be one of None, Metadata',
        'rules[0].omitStages must be one of RequestReceived',
        'rules[1].resources[0].names is no field',
        'rules[1].resources[0].group must be a text',
        'rules[1].resources[0].resources must have texts only',
        'rules[1] has nonResourceURLs together with',
        'rules[1].level must be one of',
        'rules[2] must be an object',
      ]) {
        assert.ok(error.message.includes(part), `${part} in ${error.message}`);
      }
      return true;
    },
  );
  assert.throws(() => readAuditPolicy(null, 'p'), /it must be an object/);
  assert.throws(() => readAuditPolicy(typed, 'p'), /rules must have at least one rule/);
});
