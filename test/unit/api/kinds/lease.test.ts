import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LeaseSpec } from '../../../../src/api/index.ts';
import { leaseKind } from '../../../../src/api/index.ts';

const causes = (spec: LeaseSpec) =>
  leaseKind.validate({ spec }, undefined).map(({ field, message }) => `${field}: ${message}`);

test('a lease lasts for some time, changes hands forward and may be held by nobody', () => {
  assert.deepEqual(causes({}), []);
  assert.deepEqual(causes({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 }), []);
  assert.deepEqual(causes({ leaseDurationSeconds: 0, leaseTransitions: -1 }), [
    'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test('a strategy with a name of its own is accepted, and kept only where there is one already', () => {
  const asked = {
    metadata: { name: 'a' },
    spec: { holderIdentity: 'h', strategy: 'own', preferredHolder: 'b' },
  };
  const made = leaseKind.prepare(asked, undefined);
  assert.deepEqual(made.spec, { holderIdentity: 'h' });
  assert.deepEqual(leaseKind.validate(made, undefined), []);
  assert.deepEqual(leaseKind.prepare(asked, asked).spec, asked.spec);
  const plain = { spec: { holderIdentity: 'h' } };
  assert.equal(leaseKind.prepare(plain, asked), plain);
});

test('a preferred holder needs a strategy', () => {
  assert.deepEqual(causes({ preferredHolder: 'b', strategy: 'OldestEmulationVersion' }), []);
  assert.deepEqual(causes({ preferredHolder: 'b' }), [
    'spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined',
  ]);
});
