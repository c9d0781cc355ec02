import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRule, Subject } from '../../../../../src/api/index.ts';
import type { User } from '../../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/index.ts';
import { decideNaively } from '../../../../support/naive-rbac.ts';
import { Policy } from './policy.ts';

/*
 * The authorizer beside another one that is written straight from the specification. Few different names, so that much
 * of what is asked for meets something; policies change between the questions, so that what is gone must not count.
 */

const some = (...values: string[]) => fc.constantFrom(...values);
const several = (...values: string[]) => fc.array(some(...values), { minLength: 1, maxLength: 2 });
const namespaces = ['', 'a', 'b'];
const names = ['x', 'y', ''];

const resourceRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: several('get', 'get', 'list', 'create', 'deletecollection', '*', '*'),
  apiGroups: several('', 'apps', '*'),
  resources: several('pods', 'pods', 'pods/log', '*/log', 'nodes', 'pods/*', '*'),
  resourceNames: fc.array(some('x', 'y'), { maxLength: 1 }),
});
const pathRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: several('get', 'post', '*'),
  nonResourceURLs: several('/api', '/api/*', '/api/v1', '/', '/*', '*', '/metrics'),
});
const rules = fc.array(fc.oneof({ weight: 3, arbitrary: resourceRule }, pathRule), { maxLength: 4 });

const subject: fc.Arbitrary<Subject> = fc
  .record({
    kind: some('User', 'User', 'Group', 'Group', 'ServiceAccount', 'ServiceAccount', 'Robot'),
    name: some('jane', 'devs', 'bot', 'system:serviceaccount:a:bot'),
    namespace: some('', '', 'a', 'b'),
  })
  .map(({ namespace, ...rest }) => (namespace === '' ? rest : { ...rest, namespace }));

const user: fc.Arbitrary<User> = fc.record({
  name: some('jane', 'bot', 'system:serviceaccount:a:bot', 'system:serviceaccount:b:bot', ''),
  groups: fc.array(some('devs', 'devs', 'jane', 'bot'), { maxLength: 2 }),
  extra: fc.constant({}),
});

const requirement = fc.record({
  field: some('metadata.name', 'metadata.namespace'),
  operator: fc.constantFrom('=' as const, '!=' as const),
  value: some('x', 'y', 'a'),
});
const attributes: fc.Arbitrary<Attributes> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        verb: some('get', 'get', 'list', 'create', 'deletecollection', 'watch', '*'),
        group: some('', '', 'apps', '*'),
        version: fc.constant('v1'),
        resource: some('pods', 'pods', 'nodes', '*'),
        subresource: some('', '', 'log', '*'),
        namespace: some(...namespaces),
        name: some(...names),
        selectors: fc.record({
          fields: fc.array(requirement, { maxLength: 2 }),
          labels: fc.constant([]),
        }),
      },
      { requiredKeys: ['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name'] },
    ),
  },
  fc.record({
    verb: some('get', 'post', '*'),
    path: some('/api', '/api/', '/api/v1', '/', '/metrics', '*', '/api/*'),
  }),
);

/** One thing that happens; as data, so that a failure can be read. */
interface Step {
  role?: Parameters<Policy['role']>;
  bind?: Parameters<Policy['bind']>;
  ask?: [User, Attributes];
}

const roleStep: fc.Arbitrary<Step> = fc.record({
  role: fc.tuple(some(...namespaces), some('r1', 'r2'), fc.option(rules, { nil: undefined, freq: 8 })),
});
const bindStep: fc.Arbitrary<Step> = fc.record({
  bind: fc.tuple(
    some(...namespaces),
    some('b1', 'b2', 'b3'),
    fc.record({ kind: some('Role', 'ClusterRole', 'ClusterRole'), name: some('r1', 'r2') }),
    fc.option(fc.array(subject, { maxLength: 5 }), { nil: undefined, freq: 8 }),
  ),
});
const askStep: fc.Arbitrary<Step> = fc.record({ ask: fc.tuple(user, attributes) });

function take(policy: Policy, { role, bind, ask }: Step): void {
  if (role !== undefined) policy.role(...role);
  if (bind !== undefined) policy.bind(...bind);
  if (ask !== undefined) compare(policy, ...ask);
}

let questions = 0;
let allowed = 0;

function compare(policy: Policy, who: User, asked: Attributes): void {
  const plain = { roles: [...policy.roles.values()], bindings: [...policy.bindings.values()] };
  const expected = decideNaively(plain, who, asked);
  const decision = policy.authorizer.authorize(who, asked);
  questions++;
  assert.equal(decision.verdict, expected.allowed ? 'allow' : 'noOpinion');
  assert.equal(decision.errors.length > 0, expected.problems.length > 0, 'both report, or none does');
  const missing = new Set(expected.problems.filter((problem) => problem.startsWith('role ')));
  const reported = decision.errors.filter(
    (text) => text.endsWith('not found') || text.startsWith('unsupported'),
  );
  assert.equal(reported.length, missing.size, 'every missing role is reported once');
  if (!expected.allowed) return;
  allowed++;
  assert.ok(expected.reasons.includes(decision.reason), `${decision.reason}: ${expected.reasons}`);
}

const runs = 6_000;
const mostSteps = 80;

test('decides 100,000 random requests as an evaluator does that looks at everything', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: roleStep },
    { weight: 3, arbitrary: bindStep },
    { weight: 6, arbitrary: askStep },
  );
  const beginning = fc.array(fc.oneof(roleStep, bindStep), { minLength: 20, maxLength: 20 });
  const rest = fc.array(step, { minLength: 1, maxLength: mostSteps, size: 'max' });
  const story = fc.tuple(beginning, rest).map((parts) => parts.flat());
  fc.assert(
    fc.property(story, (all) => {
      const policy = new Policy();
      for (const step of all) take(policy, step);
    }),
    { numRuns: runs },
  );
  assert.ok(questions >= 100_000, `asked ${questions} times`);
  assert.ok(
    allowed > questions / 40,
    `only ${allowed} of ${questions} were allowed: the test asks for too little`,
  );
});

test('holds nothing once every binding is gone', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(roleStep, bindStep), { maxLength: 40 }), (all) => {
      const policy = new Policy();
      for (const step of all) take(policy, step);
      for (const { namespace, name, roleRef: ref } of [...policy.bindings.values()]) {
        policy.bind(namespace, name, ref, undefined);
      }
      assert.equal(policy.index.size, 0);
      assert.equal(policy.index.isFaulty, false);
    }),
    { numRuns: 300 },
  );
});
