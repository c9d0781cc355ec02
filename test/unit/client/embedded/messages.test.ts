import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ToAgent, ToControlPlane } from '../../../../src/client/embedded/index.ts';
import { readToAgent, readToControlPlane } from '../../../../src/client/embedded/index.ts';
import { findInvalidRequestId, truncateText } from '../../../../src/client/embedded/messages.ts';

const sign: ToControlPlane = {
  type: 'sign',
  id: 7,
  csrPem: 'csr',
  usage: 'serving',
  node: 'node-a',
  addresses: ['192.0.2.1'],
};
const pem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const ready: ToAgent = { type: 'ready', url: 'https://[::1]:6443', ca: pem, kubeconfig: '/root/k' };

describe('messages to the control plane', () => {
  for (const message of [{ type: 'ping' }, { type: 'stop' }, sign] as const) {
    test(`${message.type} is read`, () => assert.deepEqual(readToControlPlane(message), message));
  }

  test('nothing that was not agreed on comes through', () => {
    assert.deepEqual(readToControlPlane({ type: 'ping', more: 1 }), { type: 'ping' });
    assert.deepEqual(readToControlPlane({ ...sign, more: 1 }), sign);
  });

  for (const [why, wrong] of Object.entries<object>({
    'an id that is no number': { id: '7' },
    'a negative id': { id: -1 },
    'a fraction as id': { id: 1.5 },
    'no request': { csrPem: undefined },
    'a request without end': { csrPem: 'x'.repeat(70_000) },
    'another usage': { usage: 'authority' },
    'no node': { node: null },
    'an address that is no text': { addresses: ['192.0.2.1', 5] },
    'no list of addresses': { addresses: '192.0.2.1' },
    'addresses without end': { addresses: Array.from({ length: 1001 }, () => 'a') },
    'another type': { type: 'resign' },
  })) {
    test(`${why} is no message`, () => assert.equal(readToControlPlane({ ...sign, ...wrong }), undefined));
  }

  test('a request that cannot be read can still be answered', () => {
    assert.equal(findInvalidRequestId({ ...sign, usage: 'authority' }), 7);
    assert.equal(findInvalidRequestId(sign), undefined);
    assert.equal(findInvalidRequestId({ type: 'sign', id: 'seven' }), undefined);
    assert.equal(findInvalidRequestId({ type: 'new-in-a-later-version', id: 7 }), undefined);
  });
});

describe('messages to the agent', () => {
  const all: ToAgent[] = [
    { type: 'pong' },
    ready,
    { type: 'signed', id: 0, pem },
    { type: 'refused', id: 3, why: 'no' },
    { type: 'failed', message: 'port taken', exitCode: 5 },
  ];
  for (const message of all)
    test(`${message.type} is read`, () => assert.deepEqual(readToAgent(message), message));

  for (const [why, wrong] of Object.entries<object>({
    'plain http': { url: 'http://127.0.0.1:6443' },
    'no address': { url: '127.0.0.1' },
    'an authority that is none': { ca: 'hello' },
    'a relative path': { kubeconfig: 'admin.kubeconfig' },
  })) {
    test(`ready with ${why} is no message`, () =>
      assert.equal(readToAgent({ ...ready, ...wrong }), undefined));
  }

  test('an exit code is one', () => {
    for (const exitCode of [-1, 256, 1.5, '5', null])
      assert.equal(readToAgent({ type: 'failed', message: 'x', exitCode }), undefined);
  });

  test('what was signed is a certificate', () => {
    assert.equal(readToAgent({ type: 'signed', id: 1, pem: '' }), undefined);
  });
});

test('whatever comes, reading it never throws', () => {
  const types = fc.constantFrom('ping', 'sign', 'ready', 'signed', 'refused', 'failed', 'pong', 'stop');
  const message = fc.oneof(
    fc.anything(),
    fc.record({ type: types, id: fc.anything(), addresses: fc.anything(), url: fc.anything() }),
  );
  fc.assert(
    fc.property(message, (value) => {
      readToAgent(value);
      readToControlPlane(value);
      findInvalidRequestId(value);
    }),
  );
});

test('a text that is cut can be read by the other side', () => {
  const why = truncateText('x'.repeat(100_000));
  assert.deepEqual(readToAgent({ type: 'refused', id: 1, why }), { type: 'refused', id: 1, why });
  assert.equal(truncateText('short'), 'short');
});
