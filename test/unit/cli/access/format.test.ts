import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatExplanation } from '../../../../src/cli/access/format.ts';

test('an explanation names another server that allows or denies, and its words', () => {
  const allowed = { allowed: true, decidedBy: 'webhook', reason: 'on duty', user: 'ann' };
  assert.equal(formatExplanation(allowed, 'get pods'), 'yes: ann may get pods (webhook: on duty)\n');
  const asked = [
    { authorizer: 'RBAC', verdict: 'NoOpinion' },
    { authorizer: 'webhook', verdict: 'Deny', reason: 'not\non duty' },
  ];
  const denied = { allowed: false, decidedBy: 'webhook', reason: 'not on duty', user: 'ann', asked };
  assert.equal(
    formatExplanation(denied, 'get pods'),
    'no: ann may not get pods\nasked: RBAC, webhook (which denies it: not?on duty)\n',
  );
});
