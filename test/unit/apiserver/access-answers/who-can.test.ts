import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRule, Subject } from '../../../../src/api/index.ts';
import { listWhoCan } from '../../../../src/apiserver/access-answers/who-can.ts';
import type { User } from '../../../../src/apiserver/authn/index.ts';
import { serviceAccountUserName } from '../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../src/apiserver/authz/index.ts';
import { decideNaively } from '../../../support/naive-rbac.ts';
import { byRule, rule, to } from '../authz/rbac/ask.ts';
import { Policy } from '../authz/rbac/policy.ts';
import { partsOf, who } from './asking.ts';

const some = (...values: string[]) => fc.constantFrom(...values);
const several = (...values: string[]) => fc.array(some(...values), { minLength: 1, maxLength: 2 });

const rules: fc.Arbitrary<PolicyRule[]> = fc.array(
  fc.oneof(
    fc.record({
      verbs: several('get', 'create', '*', '*'),
      apiGroups: several('', 'apps', '*', '*'),
      resources: several('pods', 'pods/log', '*/log', '*'),
      resourceNames: fc.array(some('x', 'y'), { maxLength: 1 }),
    }),
    fc.record({ verbs: several('get', '*'), nonResourceURLs: several('/api', '/api/*', '*') }),
  ),
  { minLength: 1, maxLength: 4 },
);
const subject: fc.Arbitrary<Subject> = fc
  .record({
    kind: some('User', 'Group', 'ServiceAccount', 'Robot'),
    name: some('jane', 'devs', 'bot', 'joe'),
    namespace: some('', 'a', 'b'),
  })
  .map(({ namespace, ...rest }) => (namespace === '' ? rest : { ...rest, namespace }));
const asked: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({
    verb: some('get', 'create'),
    group: some('', 'apps'),
    version: fc.constant('v1'),
    resource: some('pods', 'nodes'),
    subresource: some('', 'log'),
    namespace: some('', 'a', 'b'),
    name: some('', 'x'),
  }),
  fc.record({ verb: some('get', 'post'), path: some('/api', '/api/v1', '/x') }),
);
const binding = fc.tuple(
  some('', 'a', 'b'),
  some('b1', 'b2', 'b3'),
  fc.record({ kind: some('Role', 'ClusterRole'), name: some('r1', 'r2', 'gone') }),
  fc.array(subject, { minLength: 2, maxLength: 4 }),
);
const role = fc.tuple(some('', 'a', 'b'), some('r1', 'r2'), rules);

/** Everybody who can be meant by a subject in these policies, each alone. */
const everybody: readonly { told: string; user: User }[] = [
  ...['jane', 'devs', 'bot', 'joe'].flatMap((name) => [
    { told: `User ${name}`, user: { name, groups: [], extra: {} } },
    { told: `Group ${name}`, user: { name: '', groups: [name], extra: {} } },
    ...['a', 'b'].map((namespace) => {
      const user = { name: serviceAccountUserName(namespace, name), groups: [], extra: {} };
      return { told: `ServiceAccount ${namespace}/${name}`, user };
    }),
  ]),
];

describe('who can do something', () => {
  test('is told exactly as an evaluator decides that looks at everything', async () => {
    let found = 0;
    const property = fc.asyncProperty(
      fc.array(role, { minLength: 6, maxLength: 9 }),
      fc.array(binding, { minLength: 6, maxLength: 12 }),
      asked,
      async (roles, bindings, attributes) => {
        const policy = new Policy();
        for (const each of roles) policy.role(...each);
        for (const each of bindings) policy.bind(...each);
        const plain = { roles: [...policy.roles.values()], bindings: [...policy.bindings.values()] };
        const expected = everybody
          .filter(({ user }) => decideNaively(plain, user, attributes).allowed)
          .map(({ told }) => told);
        const { subjects = [], moreSubjects } = await who(policy, attributes);
        const told = subjects
          .filter(({ authorizer }) => authorizer === undefined)
          .map(
            ({ subject: { kind, namespace, name } }) => `${kind} ${namespace ? `${namespace}/` : ''}${name}`,
          );
        assert.deepEqual(told.toSorted(), expected.toSorted());
        assert.equal(moreSubjects, undefined);
        found += told.length;
        for (const { through = [], authorizer } of subjects) {
          assert.ok(authorizer !== undefined || through.length > 0);
        }
      },
    );
    await fc.assert(property, { numRuns: 2_000 });
    assert.ok(found > 500, `only ${found} were found: the test asks for too little`);
  });

  test('names those who need no role', async () => {
    const { subjects = [] } = await who(new Policy(), to({ resource: 'nodes', name: 'a', namespace: '' }));
    assert.deepEqual(subjects, [
      { subject: { kind: 'Group', name: 'system:masters' }, authorizer: 'system:masters' },
      { subject: { kind: 'User', name: 'system:node:a' }, authorizer: 'node authorizer' },
    ]);
    const review = { group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews', verb: 'create' };
    const asked = await who(new Policy(), to(review));
    assert.deepEqual(
      asked.subjects?.map(({ subject: { name } }) => name),
      ['system:masters', 'system:authenticated'],
    );
  });

  test('says when an authorizer cannot tell, and does not ask it', async () => {
    const webhook = { name: 'webhook', authorizer: { authorize: () => assert.fail('it was asked') } };
    const parts = partsOf(new Policy());
    const all = { ...parts, authorizers: [...parts.authorizers, webhook] };
    const { incomplete, errors } = await listWhoCan(all, to());
    assert.equal(incomplete, true);
    assert.match(
      errors?.[0] ?? '',
      /^incomplete: webhook cannot tell whom it allows what, and may allow others$/,
    );
  });

  test('is told of so many, and the others are counted, each once', async () => {
    const subjects = Array.from({ length: 1_003 }, (_, number) => ({ kind: 'User', name: `u-${number}` }));
    const policy = byRule(rule());
    for (const name of ['one', 'two']) policy.bind('', name, { kind: 'ClusterRole', name: 'r' }, subjects);
    const answer = await who(policy);
    assert.equal(answer.subjects?.length, 1_001, 'and system:masters');
    assert.equal(answer.moreSubjects, 4, 'with jane there are 1,004');
    const accounts = subjects.map(({ name }) => ({ kind: 'ServiceAccount', namespace: 'team', name }));
    policy.bind('team', 'three', { kind: 'ClusterRole', name: 'r' }, [...subjects, ...accounts]);
    assert.equal((await who(policy)).moreSubjects, 1_007, 'users that are met again count once');
  });
});
