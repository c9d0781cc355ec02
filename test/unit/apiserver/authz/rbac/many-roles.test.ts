import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRule } from '../../../../../src/api/index.ts';
import { RoleEntry } from '../../../../../src/apiserver/authz/rbac/role-entry.ts';
import { RoleIndexCache } from '../../../../../src/apiserver/authz/rbac/role-index.ts';
import { jane, may, rule, to, toJane } from './ask.ts';
import { Policy } from './policy.ts';

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);

/** So many roles of one holder, each with a rule for so many names. */
function roles(count: number, rules: readonly PolicyRule[]): Map<RoleEntry, unknown> {
  const reader = { has: () => true, read: () => rules };
  const entry = (at: number) => new RoleEntry({ kind: 'Role', namespace: 'team', name: `r${at}` }, reader);
  return new Map(Array.from({ length: count }, (_, at) => [entry(at), undefined]));
}

describe('somebody with many roles', () => {
  test('has what each of them allows, few names or many', () => {
    const policy = new Policy();
    for (let at = 0; at < 40; at++) {
      const resourceNames = at % 2 === 0 ? [`few${at}`] : [...namesOf(100), `many${at}`];
      policy.role('team', `r${at}`, [rule({ resourceNames })]);
      policy.bind('team', `b${at}`, { kind: 'Role', name: `r${at}` }, toJane);
    }
    assert.ok(may(policy, to({ name: 'few8' }), jane));
    assert.ok(may(policy, to({ name: 'many9' }), jane));
    assert.ok(may(policy, to({ name: 'n99' }), jane));
    assert.ok(!may(policy, to({ name: 'few9' }), jane));
    policy.role('team', 'r9', [rule({ resourceNames: ['other'] })]);
    assert.ok(!may(policy, to({ name: 'many9' }), jane));
    assert.ok(may(policy, to({ name: 'other' }), jane));
    policy.bind('team', 'b9', { kind: 'Role', name: 'r9' }, undefined);
    assert.ok(!may(policy, to({ name: 'other' }), jane));
  });
});

describe('what is kept of the roles of those who ask', () => {
  test('does not grow with the names in rules', () => {
    const memory = new RoleIndexCache();
    memory.of(roles(40, [rule({ resourceNames: namesOf(5_000) })]));
    assert.ok(memory.size < 100, `${memory.size}`);
  });

  test('is bounded, however many ask', () => {
    const memory = new RoleIndexCache();
    for (let at = 0; at < 1_000; at++) {
      memory.of(roles(40, [rule({ resourceNames: namesOf(20) })]));
    }
    assert.ok(memory.size <= 200_000, `${memory.size}`);
    memory.clear();
    assert.equal(memory.size, 0);
  });
});
