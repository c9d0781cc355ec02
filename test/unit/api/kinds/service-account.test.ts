import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceAccountKind } from '../../../../src/api/index.ts';

test('a ServiceAccount names Secrets of its own namespace, and nothing more of them', () => {
  const sent = {
    secrets: [{ name: 'a', namespace: 'elsewhere', uid: 'u' }, { kind: 'Secret' }],
    imagePullSecrets: [{ name: 'pull' }],
    automountServiceAccountToken: false,
  };
  assert.deepEqual(serviceAccountKind.prepare(sent, undefined), { ...sent, secrets: [{ name: 'a' }, {}] });
  assert.deepEqual(serviceAccountKind.prepare({}, {}), {});
});

test('a token of a ServiceAccount is asked for with a TokenRequest', () => {
  const token = serviceAccountKind.subresources.find(({ name }) => name === 'token');
  assert.equal(token?.body?.kind, 'TokenRequest');
  assert.deepEqual(token?.fields, [], 'the account itself does not change');
});
