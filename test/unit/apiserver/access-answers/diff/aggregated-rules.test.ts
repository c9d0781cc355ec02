import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRole } from '../../../../../src/api/index.ts';
import { aggregateRules } from '../../../../../src/apiserver/access-answers/diff/aggregated-rules.ts';
import { rule } from '../../authz/rbac/ask.ts';

const gathers = (label: string) => ({ clusterRoleSelectors: [{ matchLabels: { [label]: 'yes' } }] });
const labelled = (...labels: string[]) => ({
  labels: Object.fromEntries(labels.map((each) => [each, 'yes'])),
});

describe('the rules that roles gather', () => {
  test('are those of the roles that they select, and of what these gather in turn', async () => {
    const roles = new Map<string, ClusterRole>([
      ['all', { aggregationRule: gathers('all'), rules: [rule({ verbs: ['old'] })] }],
      ['some', { metadata: labelled('all'), aggregationRule: gathers('some') }],
      ['one', { metadata: labelled('some'), rules: [rule(), rule()] }],
      ['as-it-is', { aggregationRule: gathers('some'), rules: [rule()] }],
    ]);
    const { rules, isComplete } = await aggregateRules(roles);
    assert.deepEqual([...rules].sort(), [
      ['all', [rule()]],
      ['some', [rule()]],
    ]);
    assert.ok(isComplete);
  });

  test('of very many that gather each other are left, and others have their turn meanwhile', async () => {
    const roles = new Map<string, ClusterRole>();
    for (let at = 0; at < 250; at++) {
      roles.set(`gathers${at}`, { metadata: labelled('a'), aggregationRule: gathers('a') });
      roles.set(`gathered${at}`, { metadata: labelled('a'), rules: [rule({ verbs: [`v${at}`] })] });
    }
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const { isComplete } = await aggregateRules(roles);
    clearInterval(counting);
    assert.equal(isComplete, false);
    assert.ok(turns > 0);
  });
});
