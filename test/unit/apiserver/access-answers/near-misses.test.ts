import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRule, Subject } from '../../../../src/api/index.ts';
import type { User } from '../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../src/apiserver/authz/index.ts';
import { byRule, jane, may, rule, to, toJane } from '../authz/rbac/ask.ts';
import { Policy } from '../authz/rbac/policy.ts';
import { called, why } from './asking.ts';

const readers = { kind: 'ClusterRole', name: 'readers' };

/** Somebody may get pods in a namespace, or everywhere where that is empty. */
function given(namespace: string, ...subjects: Subject[]): Policy {
  return new Policy().role('', 'readers', [rule()]).bind(namespace, 'b', readers, subjects);
}

interface Story {
  story: string;
  policy: Policy;
  asked?: Attributes;
  user?: User;
  reason: string;
  message: RegExp;
}

const bot = called('system:serviceaccount:team:bot', 'system:serviceaccounts', 'system:serviceaccounts:team');
const account = (name: string, namespace: string): Subject => ({ kind: 'ServiceAccount', name, namespace });
const user = (name: string): Subject => ({ kind: 'User', name });
const group = (name: string): Subject => ({ kind: 'Group', name });

const byRules: readonly (Omit<Story, 'policy'> & { only: PolicyRule })[] = [
  {
    story: 'another group',
    only: rule({ apiGroups: ['apps'], resources: ['deployments'] }),
    asked: to({ group: 'extensions', resource: 'deployments' }),
    reason: 'OtherGroup',
    message: /^ClusterRole "r" allows it of "apps", not of "extensions"$/,
  },
  {
    story: 'a group with its version',
    only: rule({ apiGroups: ['apps/v1'], resources: ['deployments'] }),
    asked: to({ group: 'apps', resource: 'deployments' }),
    reason: 'GroupWithVersion',
    message: /"apps\/v1".*must be "apps"$/,
  },
  {
    story: 'the core group by the name of its version',
    only: rule({ apiGroups: ['v1'] }),
    reason: 'GroupWithVersion',
    message: /must be ""$/,
  },
  {
    story: 'a subresource that is not named',
    only: rule({ resources: ['pods'] }),
    asked: to({ subresource: 'log' }),
    reason: 'SubresourceMissing',
    message: /name pods\/log$/,
  },
  {
    story: 'nothing but a subresource',
    only: rule({ resources: ['pods/log'] }),
    reason: 'SubresourceOnly',
    message: /pods\/log only, not of pods itself$/,
  },
  {
    story: 'what looks like all subresources, and means nothing',
    only: rule({ resources: ['pods/*'] }),
    asked: to({ subresource: 'log' }),
    reason: 'SubresourceMissing',
    message: /name pods\/log$/,
  },
  ...['Pods', 'pod', 'Pod', 'po'].map((name) => ({
    story: `a resource that is called ${name}`,
    only: rule({ resources: [name] }),
    reason: 'ResourceMisspelt',
    message: /it must be "pods"$/,
  })),
  {
    story: 'a list, where names are named',
    only: rule({ verbs: ['list'], resourceNames: ['web'] }),
    asked: to({ verb: 'list' }),
    reason: 'ResourceNames',
    message: /names web: it allows this with a field selector: metadata\.name=NAME$/,
  },
  {
    story: 'a creation, where names are named',
    only: rule({ verbs: ['create'], resourceNames: ['web'] }),
    asked: to({ verb: 'create', name: 'web' }),
    reason: 'ResourceNames',
    message: /names never allow create/,
  },
  {
    story: 'another name',
    only: rule({ resourceNames: ['web'] }),
    asked: to({ name: 'db' }),
    reason: 'ResourceNames',
    message: /"db" is none of them$/,
  },
  {
    story: 'another verb',
    only: rule({ verbs: ['get', 'list'] }),
    asked: to({ verb: 'delete' }),
    reason: 'VerbMissing',
    message: /allows get, list of it, not delete$/,
  },
  {
    story: 'a verb in another case',
    only: rule({ verbs: ['GET'] }),
    reason: 'VerbMissing',
    message: /says "GET".*"get"$/,
  },
  {
    story: 'a path with more behind it',
    only: { verbs: ['get'], nonResourceURLs: ['/logs/*'] },
    asked: { verb: 'get', path: '/logs' },
    reason: 'OtherPath',
    message: /path \/logs\/\*, not \/logs$/,
  },
];

const stories: readonly Story[] = [
  ...byRules.map(({ only, ...story }) => ({ ...story, policy: byRule(only) })),
  {
    story: 'another namespace',
    policy: given('other', ...toJane),
    reason: 'OtherNamespace',
    message: /^RoleBinding "other\/b" allows it in namespace "other", not in "team"$/,
  },
  {
    story: 'one namespace, asked for all',
    policy: given('team', ...toJane),
    asked: to({ namespace: '' }),
    reason: 'OtherNamespace',
    message: /"team", not everywhere$/,
  },
  {
    story: 'a path by a RoleBinding',
    policy: new Policy()
      .role('', 'paths', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }])
      .bind('team', 'b', { kind: 'ClusterRole', name: 'paths' }, toJane),
    asked: { verb: 'get', path: '/metrics' },
    reason: 'PathInNamespace',
    message: /takes a ClusterRoleBinding$/,
  },
  {
    story: 'a role that does not exist',
    policy: new Policy().bind('team', 'b', { kind: 'Role', name: 'nope' }, toJane),
    reason: 'RoleMissing',
    message: /^RoleBinding "team\/b" gives Role "team\/nope", which does not exist$/,
  },
  {
    story: 'a user in another case',
    policy: given('team', user('Jane')),
    reason: 'SubjectCase',
    message: /to User "Jane", not to "jane": names differ in case$/,
  },
  {
    story: 'a group in another case',
    policy: given('', group('Devs')),
    reason: 'SubjectCase',
    message: /to Group "Devs", not to "devs"/,
  },
  ...['team:bot', 'team/bot', 'bot', 'system:serviceaccounts:team:bot'].map((name) => ({
    story: `a service account as the user ${name}`,
    policy: given('team', user(name)),
    user: bot,
    reason: 'ServiceAccountAsUser',
    message: /has the kind ServiceAccount/,
  })),
  ...['team:bot', 'team/bot', 'bot'].map((name) => ({
    story: `a question about a service account as the user ${name}`,
    policy: given('team', account('bot', 'team')),
    user: called(name),
    reason: 'ServiceAccountAsUser',
    message: /ask for the user "system:serviceaccount:team:bot"$/,
  })),
  {
    story: 'a service account of another namespace',
    policy: given('team', account('bot', 'other')),
    user: bot,
    reason: 'ServiceAccountNamespace',
    message: /to ServiceAccount "other\/bot": .* of namespace "team"$/,
  },
  {
    story: 'a group as a user',
    policy: given('team', user('devs')),
    reason: 'GroupAsUser',
    message: /"devs" is a group/,
  },
  {
    story: 'a user as a group',
    policy: given('team', group('jane')),
    reason: 'UserAsGroup',
    message: /"jane" is a user/,
  },
  {
    story: 'a service account without its groups',
    policy: given('team', group('system:serviceaccounts:team')),
    user: { name: bot.name, groups: [], extra: {} },
    reason: 'GroupNotAsked',
    message: /was not asked with it$/,
  },
];

describe('what nearly allows something', () => {
  for (const { story, policy, asked = to(), user: asks = jane, reason, message } of stories) {
    test(story, async () => {
      assert.equal(may(policy, asked, asks), false, 'it is refused');
      const { allowed, nearMisses = [], remedy } = await why(policy, asked, asks);
      assert.equal(allowed, false);
      assert.deepEqual(
        nearMisses.map((miss) => miss.reason),
        [reason],
      );
      assert.match(nearMisses[0]?.message ?? '', message);
      assert.ok(remedy);
    });
  }

  test('is not what differs in two things, nor what others have', async () => {
    const policies = [
      byRule(rule({ verbs: ['list'], apiGroups: ['apps'] })),
      byRule(rule({ resources: ['secrets'] })),
      given('team', user('joe')),
      new Policy(),
    ];
    for (const policy of policies) assert.deepEqual((await why(policy)).nearMisses, []);
  });

  test('is ranked, and bounded for each reason', async () => {
    const policy = byRule(rule({ verbs: ['list'] })).role('', 'readers', [rule()]);
    for (let number = 0; number < 30; number++) policy.bind(`ns-${number}`, 'b', readers, toJane);
    const { nearMisses = [], moreNearMisses } = await why(policy);
    const reasons = nearMisses.map(({ reason }) => reason);
    assert.deepEqual(reasons, [...Array(20).fill('OtherNamespace'), 'VerbMissing']);
    assert.equal(moreNearMisses, 10);
  });

  test('is looked for within bounds, and what was left out is told', async () => {
    const rules = Array.from({ length: 10_001 }, (_, number) => rule({ resources: [`r${number}`] }));
    const policy = new Policy()
      .role('', 'r', rules)
      .bind('', 'b', { kind: 'ClusterRole', name: 'r' }, toJane);
    const { errors } = await why(policy);
    assert.deepEqual(errors, ['there is too much to look at: near misses may be missing']);
  });
});
