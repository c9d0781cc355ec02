import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecisionCache } from '../../../../../src/apiserver/authz/webhook/decision-cache.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const yes = { verdict: 'allow', reason: '', errors: [] } as const;

test('of more decisions than it keeps, the one that was not asked for longest goes', async () => {
  const asked: string[] = [];
  const cache = new DecisionCache({ clock: createManualClock(), maxEntries: 2, lifetimeMs: () => 1000 });
  const find = async (question: string) =>
    await cache.find(question, async () => {
      asked.push(question);
      return yes;
    });
  for (const question of ['a', 'b', 'a', 'c', 'a', 'b']) await find(question);
  assert.deepEqual(asked, ['a', 'b', 'c', 'b']);
  assert.deepEqual([cache.size, cache.waiting], [2, 0]);
});
