import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Subject } from '../../../../../src/api/index.ts';
import type { User } from '../../../../../src/apiserver/authn/index.ts';
import { serviceAccountUser } from '../../../../../src/apiserver/authn/index.ts';
import { jane, may, rule, to, toJane } from './ask.ts';
import { group, Policy } from './policy.ts';

const clusterRole = { kind: 'ClusterRole', name: 'reader' };
const role = { kind: 'Role', name: 'reader' };
const readers = () => new Policy().role('', 'reader', [rule()]).role('team', 'reader', [rule()]);
const bound = (...subjects: Subject[]) => readers().bind('', 'b', clusterRole, subjects);

describe('where a binding counts', () => {
  test('a ClusterRoleBinding in every namespace, and for what belongs to none', () => {
    const policy = readers().bind('', 'b', clusterRole, toJane);
    for (const namespace of ['team', 'other', '']) assert.ok(may(policy, to({ namespace })), namespace);
  });

  test('a RoleBinding of a ClusterRole in its own namespace only', () => {
    const policy = readers().bind('team', 'b', clusterRole, toJane);
    assert.ok(may(policy, to({ namespace: 'team' })));
    for (const namespace of ['other', '']) assert.ok(!may(policy, to({ namespace })), namespace);
  });

  test('a RoleBinding of a Role means the one in its own namespace', () => {
    const policy = readers().bind('team', 'b', role, toJane).bind('other', 'b', role, toJane);
    assert.ok(may(policy, to({ namespace: 'team' })));
    assert.ok(!may(policy, to({ namespace: 'other' })), 'there is no such Role there');
  });

  test('a ClusterRoleBinding gives no Role', () => {
    const policy = readers().bind('', 'b', role, toJane);
    const { verdict, errors } = policy.authorizer.authorize(jane, to());
    assert.equal(verdict, 'noOpinion');
    assert.deepEqual(errors, ['unsupported role reference kind: Role "reader"']);
  });

  test('paths are given by a ClusterRoleBinding only', () => {
    const paths = [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }];
    const asked = { verb: 'get', path: '/metrics' };
    const policy = new Policy().role('', 'reader', paths).bind('team', 'b', clusterRole, toJane);
    assert.ok(!may(policy, asked));
    assert.deepEqual(policy.authorizer.rules?.(jane, 'team'), {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
      errors: [],
    });
    assert.ok(may(policy.bind('', 'b', clusterRole, toJane), asked));
  });
});

describe('whom a binding means', () => {
  const as = (name: string, ...groups: string[]): User => ({ name, groups, extra: {} });
  const account = serviceAccountUser({ namespace: 'team', name: 'bot', uid: '1' }, {});
  const rows: [string, Subject, User, boolean][] = [
    ['a user by name', { kind: 'User', name: 'jane' }, as('jane'), true],
    ['not another user', { kind: 'User', name: 'jane' }, as('joe'), false],
    ['not a user in another case', { kind: 'User', name: 'jane' }, as('Jane'), false],
    ['not a group by the name of a user', { kind: 'User', name: 'jane' }, as('joe', 'jane'), false],
    ['a member of a group', { kind: 'Group', name: 'devs' }, as('joe', 'ops', 'devs'), true],
    ['not who is in other groups', { kind: 'Group', name: 'devs' }, as('joe', 'ops'), false],
    ['not a user by the name of a group', { kind: 'Group', name: 'devs' }, as('devs'), false],
    ['a service account', { kind: 'ServiceAccount', name: 'bot', namespace: 'team' }, account, true],
    [
      'not one of another namespace',
      { kind: 'ServiceAccount', name: 'bot', namespace: 'other' },
      account,
      false,
    ],
    [
      'not a user by the name of an account',
      { kind: 'ServiceAccount', name: 'bot', namespace: 'team' },
      as('bot'),
      false,
    ],
    [
      'a service account as the user that it is',
      { kind: 'User', name: 'system:serviceaccount:team:bot' },
      account,
      true,
    ],
    ['all service accounts', { kind: 'Group', name: 'system:serviceaccounts' }, account, true],
    ['those of a namespace', { kind: 'Group', name: 'system:serviceaccounts:team' }, account, true],
    ['not those of another', { kind: 'Group', name: 'system:serviceaccounts:other' }, account, false],
    ['whoever is authenticated', { kind: 'Group', name: 'system:authenticated' }, jane, true],
    ['not who says nothing of that', { kind: 'Group', name: 'system:authenticated' }, as('jane'), false],
    [
      'who is not authenticated',
      { kind: 'Group', name: 'system:unauthenticated' },
      as('system:anonymous', 'system:unauthenticated'),
      true,
    ],
  ];
  for (const [what, subject, user, expected] of rows) {
    test(what, () => assert.equal(may(bound(subject), to(), user), expected));
  }

  test('a service account without a namespace means one in that of the binding', () => {
    const policy = readers().bind('team', 'b', clusterRole, [{ kind: 'ServiceAccount', name: 'bot' }]);
    assert.ok(may(policy, to(), account));
  });
});

describe('why', () => {
  const reason = (policy: Policy, user = jane) => policy.authorizer.authorize(user, to()).reason;

  test('names the binding, the role and the subject', () => {
    assert.equal(
      reason(bound({ kind: 'Group', name: 'devs' })),
      'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to Group "devs"',
    );
    assert.equal(
      reason(readers().bind('team', 'b', role, toJane)),
      'RBAC: allowed by RoleBinding "b/team" of Role "reader" to User "jane"',
    );
    const account = serviceAccountUser({ namespace: 'ci', name: 'bot', uid: '1' }, {});
    const toBot = [{ kind: 'ServiceAccount', name: 'bot', namespace: 'ci' }];
    assert.equal(
      reason(readers().bind('team', 'b', clusterRole, toBot), account),
      'RBAC: allowed by RoleBinding "b/team" of ClusterRole "reader" to ServiceAccount "bot/ci"',
    );
  });

  test('is empty where nothing allows it', () => {
    assert.deepEqual(readers().authorizer.authorize(jane, to()), {
      verdict: 'noOpinion',
      reason: '',
      errors: [],
    });
  });
});

describe('a role that does not exist', () => {
  const missing = `clusterrole.${group} "reader" not found`;

  test('is passed over and reported; a decision is reached by the rest', () => {
    const policy = new Policy()
      .bind('', 'dangling', clusterRole, toJane)
      .role('team', 'reader', [rule()])
      .bind('team', 'good', role, toJane);
    const { verdict, errors } = policy.authorizer.authorize(jane, to());
    assert.deepEqual([verdict, errors], ['allow', [missing]]);
  });

  test('is the reason too when nothing allows', () => {
    const policy = new Policy().bind('', 'dangling', clusterRole, toJane);
    assert.deepEqual(policy.authorizer.authorize(jane, to()), {
      verdict: 'noOpinion',
      reason: `RBAC: ${missing}`,
      errors: [missing],
    });
    policy.bind('team', 'more', { kind: 'Role', name: 'x' }, toJane);
    const { reason } = policy.authorizer.authorize(jane, to());
    assert.equal(reason, `RBAC: [${missing}, role.${group} "x" not found]`);
  });

  test('is told once, and only to whom it was given, where it was given', () => {
    const policy = new Policy()
      .bind('team', 'dangling', clusterRole, toJane)
      .bind('team', 'again', clusterRole, toJane);
    assert.deepEqual(policy.authorizer.authorize(jane, to()).errors, [missing]);
    assert.deepEqual(policy.authorizer.authorize(jane, to({ namespace: 'other' })).errors, []);
    const other = { ...jane, name: 'joe' };
    assert.deepEqual(policy.authorizer.authorize(other, to()).errors, []);
  });

  test('counts once it is there, and no more once it is gone', () => {
    const policy = new Policy().bind('', 'b', clusterRole, toJane);
    assert.ok(!may(policy, to()));
    policy.role('', 'reader', [rule()]);
    assert.ok(may(policy, to()));
    policy.role('', 'reader', [rule({ verbs: ['list'] })]);
    assert.ok(!may(policy, to()), 'its rules are others now');
    policy.role('', 'reader', undefined);
    assert.deepEqual(policy.authorizer.authorize(jane, to()).errors, [missing]);
  });

  test('however many there are, a few are told and the rest counted', () => {
    const policy = new Policy();
    for (let index = 0; index < 500; index++) {
      policy.bind('', `b${index}`, { kind: 'ClusterRole', name: `r${index}` }, toJane);
    }
    const { errors } = policy.authorizer.authorize(jane, to());
    assert.equal(errors.length, 11);
    assert.equal(errors.at(-1), 'and 490 more');
  });
});

describe('a subject that is not as it should be', () => {
  test('of a kind that is not known is reported to everybody whom it may mean', () => {
    const policy = readers().bind('team', 'b', clusterRole, [{ kind: 'Robot', name: 'r2' }]);
    const { verdict, errors } = policy.authorizer.authorize(jane, to());
    assert.equal(verdict, 'noOpinion');
    assert.deepEqual(errors, ['RoleBinding "b/team": subject Robot "r2" is of a kind that is not known']);
    assert.deepEqual(policy.authorizer.authorize(jane, to({ namespace: 'other' })).errors, []);
    assert.deepEqual(policy.bind('team', 'b', clusterRole, []).authorizer.authorize(jane, to()).errors, []);
  });

  test('a user or group with a namespace has the role all the same, and is reported', () => {
    for (const kind of ['User', 'Group']) {
      const name = kind === 'User' ? 'jane' : 'devs';
      const policy = bound({ kind, name, namespace: 'team' });
      const { verdict, errors } = policy.authorizer.authorize(jane, to());
      const text = `ClusterRoleBinding "b": subject ${kind} "${name}" belongs to no namespace, but has "team"`;
      assert.deepEqual([verdict, errors], ['allow', [text]]);
      const joe = { name: 'joe', groups: [], extra: {} };
      assert.deepEqual(policy.authorizer.authorize(joe, to()).errors, []);
    }
  });

  test('does not keep the others from what they have', () => {
    const policy = bound({ kind: 'Robot', name: 'r2' }, { kind: 'User', name: 'jane' });
    assert.ok(may(policy, to()));
  });
});

describe('a binding that changes', () => {
  test('takes from those who are no longer in it, and gives to those who are new', () => {
    const policy = bound(...toJane, { kind: 'User', name: 'joe' });
    const joe = { name: 'joe', groups: [], extra: {} };
    policy.bind('', 'b', clusterRole, [
      { kind: 'Group', name: 'ops' },
      { kind: 'User', name: 'joe' },
    ]);
    assert.deepEqual([may(policy, to()), may(policy, to(), joe)], [false, true]);
    assert.ok(may(policy, to(), { name: 'x', groups: ['ops'], extra: {} }));
    policy.bind('', 'b', clusterRole, undefined);
    assert.deepEqual([may(policy, to()), may(policy, to(), joe), policy.index.size], [false, false, 0]);
  });

  test('leaves what another binding gives of the same role', () => {
    const policy = bound(...toJane, ...toJane).bind('', 'c', clusterRole, toJane);
    policy.bind('', 'b', clusterRole, undefined);
    assert.match(policy.authorizer.authorize(jane, to()).reason, /ClusterRoleBinding "c"/);
    policy.bind('', 'c', clusterRole, undefined);
    assert.ok(!may(policy, to()));
  });
});

describe('the rules of a user in a namespace', () => {
  test('are those of all roles that count there, each role once', () => {
    const paths = { verbs: ['get'], nonResourceURLs: ['/metrics'] };
    const policy = new Policy()
      .role('', 'reader', [rule(), paths])
      .role('team', 'reader', [rule({ verbs: ['update'], resourceNames: ['x'] })])
      .role('other', 'reader', [rule({ verbs: ['delete'] })])
      .bind('', 'a', clusterRole, toJane)
      .bind('', 'b', clusterRole, [{ kind: 'Group', name: 'devs' }])
      .bind('team', 'c', role, toJane)
      .bind('other', 'd', role, toJane);
    assert.deepEqual(policy.authorizer.rules?.(jane, 'team'), {
      resourceRules: [rule(), rule({ verbs: ['update'], resourceNames: ['x'] })],
      nonResourceRules: [paths],
      incomplete: false,
      errors: [],
    });
  });

  test('come with what is to be reported', () => {
    const policy = new Policy().bind('', 'dangling', clusterRole, toJane);
    const list = policy.authorizer.rules?.(jane, 'team');
    assert.deepEqual(list, {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
      errors: [`clusterrole.${group} "reader" not found`],
    });
  });

  test('end after very many, and say so', async () => {
    const many = Array.from({ length: 10_001 }, (_, index) => rule({ resources: [`r${index}`] }));
    const policy = new Policy().role('', 'reader', many).bind('', 'b', clusterRole, toJane);
    const list = await policy.authorizer.rules?.(jane, 'team');
    assert.deepEqual([list?.resourceRules.length, list?.incomplete], [10_000, true]);
  });
});

describe('the work of a decision', () => {
  test('is the same however many bindings others have, and asks each role of the user once', () => {
    for (const count of [0, 10_000]) {
      const policy = bound(...toJane, ...toJane).bind('team', 'c', clusterRole, toJane);
      policy.bind('', 'd', clusterRole, [{ kind: 'Group', name: 'devs' }]).bind('', 'e', clusterRole, toJane);
      for (let number = 0; number < count; number++) {
        const other = { kind: number % 2 === 0 ? 'User' : 'Group', name: `other-${number}` };
        policy.bind(number % 3 === 0 ? '' : 'team', `b${number}`, clusterRole, [other]);
      }
      let asked = 0;
      const question = {
        isAllowedBy() {
          asked++;
          return false;
        },
        keys: () => [],
      };
      policy.index.find(jane, 'team', question);
      assert.equal(asked, 3, 'by her name and by her group everywhere, by her name in the namespace');
    }
  });
});
