import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { certificateSigningRequestKind, findMissingFields, nodeKind } from '../../../../src/api/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

const paths = (value: unknown) => findMissingFields(nodeKind.root, value).map(({ field }) => field);

describe('required fields', () => {
  test('that are absent are told by their path, wherever they are', () => {
    const node = {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a' }] },
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }, { value: 'x' }] },
      status: { daemonEndpoints: { kubeletEndpoint: {} }, addresses: [{}] },
    };
    assert.deepEqual(paths(node), [
      'metadata.ownerReferences[0].uid',
      'spec.taints[1].key',
      'spec.taints[1].effect',
      'status.addresses[0].type',
      'status.addresses[0].address',
      'status.daemonEndpoints.kubeletEndpoint.Port',
    ]);
  });

  test('are not asked of a part that is absent, and an empty value is a value', () => {
    assert.deepEqual(paths({}), []);
    assert.deepEqual(paths({ spec: { taints: [{ key: '', effect: '' }] } }), []);
    const [cause] = findMissingFields(certificateSigningRequestKind.root, {});
    assert.deepEqual(cause, { reason: 'FieldValueRequired', field: 'spec', message: 'Required value' });
  });

  test('of a million empty items are told a hundred times, in a moment', () => {
    const items = Array.from({ length: 1_000_000 }, () => ({}));
    const tookMs = cpuMsOf(() => assert.equal(paths({ status: { conditions: items } }).length, 100));
    assert.ok(tookMs < 2000, `${tookMs} ms`);
  });
});
