import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Authorizer, Decision, RuleList } from '../../../../src/apiserver/authz/index.ts';
import { createAuthorizerChain, mastersAuthorizer } from '../../../../src/apiserver/authz/index.ts';

const jane = { name: 'jane', groups: ['devs'], extra: {} };
const asked = { verb: 'get', path: '/x' };
const answering = (answer: Partial<Decision>, rules?: Partial<RuleList>): Authorizer => ({
  authorize: () => ({ verdict: 'noOpinion', reason: '', errors: [], ...answer }),
  ...(rules && {
    rules: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false, errors: [], ...rules }),
  }),
});
const later = (answer: Partial<Decision>): Authorizer => ({
  authorize: async (...all) => answering(answer).authorize(...all),
});
const allow = { verdict: 'allow', reason: 'because' } as const;
const deny = { verdict: 'deny', reason: 'no' } as const;

describe('a chain of authorizers', () => {
  test('the first that allows or denies decides, and the rest are not asked', async () => {
    const unasked: Authorizer = { authorize: () => assert.fail('asked') };
    for (const decision of [allow, deny]) {
      const chain = createAuthorizerChain([answering({}), answering(decision), unasked]);
      assert.deepEqual(chain.authorize(jane, asked), { ...decision, errors: [] });
      const waiting = createAuthorizerChain([later({}), later(decision), unasked]);
      assert.deepEqual(await waiting.authorize(jane, asked), { ...decision, errors: [] });
    }
  });

  test('answers at once when all do', () => {
    const decision = createAuthorizerChain([answering({}), answering({})]).authorize(jane, asked);
    assert.deepEqual(decision, { verdict: 'noOpinion', reason: '', errors: [] });
  });

  test('keeps the errors of those who were asked before, and the reasons when nobody decides', async () => {
    const first = answering({ reason: 'one', errors: ['a'] });
    assert.deepEqual(createAuthorizerChain([first, answering(allow)]).authorize(jane, asked), {
      ...allow,
      errors: ['a'],
    });
    const chain = createAuthorizerChain([first, answering({}), later({ reason: 'two', errors: ['b'] })]);
    assert.deepEqual(await chain.authorize(jane, asked), {
      verdict: 'noOpinion',
      reason: 'one\ntwo',
      errors: ['a', 'b'],
    });
  });

  test('of none has no opinion', () => {
    assert.deepEqual(createAuthorizerChain([]).authorize(jane, asked), {
      verdict: 'noOpinion',
      reason: '',
      errors: [],
    });
  });
});

describe('the rules of a chain', () => {
  const read = { apiGroups: [''], resources: ['pods'] };

  test('are those of all, in as few rules as say the same', async () => {
    const chain = createAuthorizerChain([
      answering(
        {},
        {
          resourceRules: [
            { verbs: ['get'], ...read },
            { verbs: ['get', 'list'], ...read, resourceNames: ['x'] },
            { verbs: ['*'], apiGroups: ['apps'], resources: ['*'] },
          ],
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
        },
      ),
      answering(
        {},
        {
          resourceRules: [
            { verbs: ['list', 'get'], ...read },
            { verbs: ['list', 'get'], apiGroups: [''], resources: ['nodes'] },
            { verbs: ['get'], apiGroups: ['apps'], resources: ['*'] },
          ],
          nonResourceRules: [
            { verbs: ['get'], nonResourceURLs: ['/b', '/a'] },
            { verbs: ['put'], nonResourceURLs: ['/c'] },
          ],
        },
      ),
    ]);
    assert.deepEqual(await chain.rules?.(jane, 'team'), {
      resourceRules: [
        { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'nodes'] },
        { verbs: ['get', 'list'], ...read, resourceNames: ['x'] },
        { verbs: ['*'], apiGroups: ['apps'], resources: ['*'] },
      ],
      nonResourceRules: [
        { verbs: ['get'], nonResourceURLs: ['/a', '/b'] },
        { verbs: ['put'], nonResourceURLs: ['/c'] },
      ],
      incomplete: false,
      errors: [],
    });
  });

  test('are incomplete when one says so, or cannot list any', async () => {
    for (const other of [answering({}), answering({}, { incomplete: true, errors: ['why'] })]) {
      const chain = createAuthorizerChain([answering({}, {}), other]);
      const { incomplete, errors } = (await chain.rules?.(jane, 'team')) ?? {};
      assert.equal(incomplete, true);
      assert.equal(errors?.length, 1);
    }
  });
});

test('a member of system:masters may do everything, and nobody else is asked', () => {
  const chain = createAuthorizerChain([mastersAuthorizer, answering(deny)]);
  const master = { ...jane, groups: ['system:masters'] };
  assert.deepEqual(chain.authorize(master, asked), {
    verdict: 'allow',
    reason: 'member of system:masters',
    errors: [],
  });
  assert.deepEqual(chain.authorize(jane, asked), { ...deny, errors: [] });
});
