import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { User } from '../../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/index.ts';
import { decideNaively } from '../../../../support/naive-rbac.ts';
import { Policy } from './policy.ts';
import type { Step } from './random-policy.ts';
import { applyStep, askStep, attributes, beginning, bindStep, roleStep, rules } from './random-policy.ts';

/*
 * The authorizer beside another one that is written straight from the specification. Policies change between the
 * questions, so that what is gone must not count.
 */

function take(policy: Policy, step: Step): void {
  applyStep(policy, step);
  if (step.ask !== undefined) compare(policy, ...step.ask);
}

let questions = 0;
let allowed = 0;
/** What was allowed, by what there is to it: none of these may go unasked. */
const seen = { selector: 0, name: 0, subresource: 0, path: 0, account: 0, accountGroup: 0, dangling: 0 };

function note(asked: Attributes, reason: string, problems: number): void {
  allowed++;
  if ('path' in asked) seen.path++;
  else {
    if (asked.name !== '') seen.name++;
    if (asked.subresource !== '') seen.subresource++;
    if ((asked.selectors?.fields.length ?? 0) > 0) seen.selector++;
  }
  if (reason.includes('to ServiceAccount ')) seen.account++;
  if (reason.includes('to Group "system:serviceaccounts')) seen.accountGroup++;
  if (problems > 0) seen.dangling++;
}

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
  note(asked, decision.reason, missing.size);
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
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 100, `${what}: allowed ${times} times`);
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

test('somebody with very many roles may do the same as by one after the other', () => {
  const change = fc.tuple(fc.nat(59), fc.option(rules, { nil: undefined, freq: 8 }), attributes);
  const property = fc.property(
    fc.array(rules, { minLength: 60, maxLength: 60 }),
    fc.array(change, { minLength: 1, maxLength: 12 }),
    (each, changes) => {
      const policy = new Policy();
      const jane = { name: 'jane', groups: [], extra: {} };
      each.forEach((given, number) => {
        const roleRef = { kind: 'ClusterRole', name: `r${number}` };
        policy.role('', roleRef.name, given.slice(0, number % 2));
        policy.bind('', `b${number}`, roleRef, [{ kind: 'User', name: 'jane' }]);
      });
      for (const [number, given, asked] of changes) {
        const plain = { roles: [...policy.roles.values()], bindings: [...policy.bindings.values()] };
        const { verdict } = policy.authorizer.authorize(jane, asked);
        assert.equal(verdict === 'allow', decideNaively(plain, jane, asked).allowed, JSON.stringify(asked));
        if (number % 3 === 0) policy.bind('', `b${number}`, { kind: 'ClusterRole', name: 'r1' }, undefined);
        else policy.role('', `r${number}`, given);
      }
    },
  );
  fc.assert(property, { numRuns: 1_000 });
});
