import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../../../src/api/index.ts';
import { ownAddresses, reportedAddresses } from '../../../../src/apiserver/controllers/node-addresses.ts';

function node(name: string, ...addresses: string[]): Node {
  const told = addresses.map((address) => ({ type: 'InternalIP', address }));
  return { metadata: { name }, status: { addresses: told } };
}

const controlPlane = ['localhost', 'kubernetes.default.svc', '127.0.0.1', '192.0.2.1', '2001:db8::1'];

describe('what a node may have in its serving certificate', () => {
  test('the addresses that it reports and nobody else has', () => {
    const own = node('a', '192.0.2.7', '2001:db8::7');
    assert.deepEqual(ownAddresses(own, [node('b', '192.0.2.8')], controlPlane), ['192.0.2.7', '2001:db8::7']);
  });

  test('never those of the control plane', () => {
    assert.deepEqual(ownAddresses(node('evil', '192.0.2.1', '2001:db8::1', '192.0.2.7'), [], controlPlane), [
      '192.0.2.7',
    ]);
  });

  test('never those of another node, whoever reported them first', () => {
    assert.deepEqual(ownAddresses(node('evil', '192.0.2.8'), [node('b', '192.0.2.8')], controlPlane), []);
  });

  test('no names: its own one needs no report, and others are not its to claim', () => {
    assert.deepEqual(ownAddresses(node('evil', 'kubernetes.default.svc', 'b', 'bank.example'), [], []), []);
  });

  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '0.0.0.0', '::', 'localhost']) {
    test(`never ${address}, which is every machine's, not even for an administrator`, () => {
      assert.deepEqual(ownAddresses(node('evil', address), [], []), []);
      assert.deepEqual(reportedAddresses(node('a', address, '192.0.2.7')), ['192.0.2.7']);
    });
  }

  test('nothing while it has reported nothing', () => {
    assert.deepEqual(ownAddresses({ metadata: { name: 'a' } }, [], []), []);
  });
});
