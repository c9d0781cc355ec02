import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRule } from '../../../../../src/api/index.ts';
import type { User } from '../../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/index.ts';
import { createAuthorizerChain } from '../../../../../src/apiserver/authz/index.ts';
import { decideNaively } from '../../../../support/naive-rbac.ts';
import { Policy } from './policy.ts';
import { applyStep, attributes, beginning, namespaces, user } from './random-policy.ts';

/*
 * What is listed is held, and what is held is listed (specification, section 2.2): whoever has the listed rules, and
 * nothing else, may do exactly what the authorizer allows there.
 */

const asks = fc.array(fc.tuple(user, attributes), { minLength: 40, maxLength: 40, size: 'max' });

/** The same rules as one role, given to one user everywhere. */
function decidedBy(rules: readonly PolicyRule[], { name }: User, asked: Attributes): boolean {
  const binding = {
    namespace: '',
    name: 'b',
    roleRef: { apiGroup: '', kind: 'ClusterRole', name: 'listed' },
  };
  const roles = [{ namespace: '', name: 'listed', rules }];
  const subjects = [{ kind: 'User', name }];
  return decideNaively(
    { roles, bindings: [{ ...binding, subjects }] },
    { name, groups: [], extra: {} },
    asked,
  ).allowed;
}

let [held, allowed] = [0, 0];

async function compare(policy: Policy, who: User, asked: Attributes): Promise<void> {
  const namespace = 'path' in asked ? '' : asked.namespace;
  const chain = createAuthorizerChain([policy.authorizer]);
  const list = await chain.rules?.(who, namespace);
  assert.ok(list !== undefined && !list.incomplete);
  const rules = [...list.resourceRules, ...list.nonResourceRules];
  const { verdict } = policy.authorizer.authorize(who, asked);
  assert.equal(decidedBy(rules, who, asked), verdict === 'allow', JSON.stringify({ rules, asked }));
  if (rules.length > 0) held++;
  if (verdict === 'allow') allowed++;
}

test('the rules of a user in a namespace are what the user may do there, no more and no less', async () => {
  await fc.assert(
    fc.asyncProperty(beginning, asks, async (steps, questions) => {
      const policy = new Policy();
      for (const step of steps) applyStep(policy, step);
      for (const [who, asked] of questions) await compare(policy, who, asked);
    }),
    { numRuns: 300 },
  );
  assert.ok(held > 500 && allowed > 100, `${held} had rules, ${allowed} were allowed`);
});

test('a selector only narrows: what is allowed of all is allowed of some', () => {
  let narrowed = 0;
  fc.assert(
    fc.property(beginning, asks, (steps, questions) => {
      const policy = new Policy();
      for (const step of steps) applyStep(policy, step);
      for (const [who, asked] of questions) {
        if ('path' in asked || asked.selectors === undefined) continue;
        const { selectors: _selectors, ...all } = asked;
        if (policy.authorizer.authorize(who, all).verdict !== 'allow') continue;
        narrowed++;
        assert.equal(policy.authorizer.authorize(who, asked).verdict, 'allow', JSON.stringify(asked));
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(narrowed > 50, `${narrowed} had a selector and were allowed`);
});

test('all namespaces are no more than any one: what is allowed of all is allowed in each', () => {
  let everywhere = 0;
  fc.assert(
    fc.property(beginning, asks, (steps, questions) => {
      const policy = new Policy();
      for (const step of steps) applyStep(policy, step);
      for (const [who, asked] of questions) {
        if ('path' in asked) continue;
        if (policy.authorizer.authorize(who, { ...asked, namespace: '' }).verdict !== 'allow') continue;
        everywhere++;
        for (const namespace of namespaces) {
          assert.equal(policy.authorizer.authorize(who, { ...asked, namespace }).verdict, 'allow');
        }
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(everywhere > 50, `${everywhere} were allowed everywhere`);
});
