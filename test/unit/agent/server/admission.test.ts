import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requesterOf } from '../../../../src/agent/server/admission.ts';

const controlPlane = { name: 'kube-apiserver-kubelet-client', authenticatedBy: 'certificate' } as const;
const told = (name: string) => ({ 'nodeward-requester': name });

test('a request is recorded for whom the control plane asks, and else for who comes', () => {
  assert.equal(requesterOf(controlPlane, told('alice')), 'alice');
  assert.equal(
    requesterOf(controlPlane, told(encodeURIComponent('system:serviceaccount:a:ü'))),
    'system:serviceaccount:a:ü',
  );
  assert.equal(requesterOf(controlPlane, {}), controlPlane.name);
  assert.equal(requesterOf({ name: 'bob', authenticatedBy: 'certificate' }, told('alice')), 'bob');
  assert.equal(
    requesterOf({ name: controlPlane.name }, told('alice')),
    controlPlane.name,
    'a token of that name',
  );
});

test('a name that cannot be read is none', () => {
  for (const text of ['', '%', '%ff', 'x'.repeat(3000)])
    assert.equal(requesterOf(controlPlane, told(text)), controlPlane.name);
});
