import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import type { DeviceSchema } from '../../../../../src/agent/plugins/dra/gen/v1_pb.js';
import {
  NodePrepareResourcesResponseSchema,
  NodeUnprepareResourcesResponseSchema,
} from '../../../../../src/agent/plugins/dra/gen/v1_pb.js';
import { readPrepared, readUnprepared } from '../../../../../src/agent/plugins/dra/responses.ts';

const claim = (uid: string) => ({ namespace: 'default', name: `claim-${uid}`, uid });

const device = (
  change: MessageInitShape<typeof DeviceSchema> = {},
): MessageInitShape<typeof DeviceSchema> => ({
  poolName: 'pool',
  deviceName: 'gpu-0',
  requestNames: ['gpu'],
  cdiDeviceIds: ['example.com/gpu=0'],
  ...change,
});

function prepared(
  uids: readonly string[],
  claims: MessageInitShape<typeof NodePrepareResourcesResponseSchema>['claims'],
) {
  return readPrepared(uids.map(claim), create(NodePrepareResourcesResponseSchema, { claims: claims ?? {} }));
}

describe('what a DRA driver answers', () => {
  test('is one result for each claim: its devices, its error, or that it was left out', () => {
    const results = prepared(['a', 'b', 'c', 'constructor'], {
      a: { devices: [device({ shareId: 'share-1' }), device({ requestNames: [], cdiDeviceIds: [] })] },
      b: { error: 'no device is left', devices: [device()] },
    });
    assert.deepEqual(results.get('a'), {
      devices: [
        {
          requests: ['gpu'],
          pool: 'pool',
          device: 'gpu-0',
          cdiDeviceIds: ['example.com/gpu=0'],
          shareId: 'share-1',
        },
        { requests: [], pool: 'pool', device: 'gpu-0', cdiDeviceIds: [], shareId: undefined },
      ],
    });
    assert.deepEqual(results.get('b'), { error: 'no device is left' });
    const leftOut = { error: 'the driver has left this claim out of its answer' };
    assert.deepEqual([results.get('c'), results.get('constructor')], [leftOut, leftOut]);
  });

  test('is not believed at all where it is for claims that were not asked for', () => {
    assert.throws(() => prepared(['a'], { a: {}, z: {} }), /answers for a claim "z" that was not asked for/);
  });

  test('is an error of that claim alone where it cannot be used', () => {
    const broken: [MessageInitShape<typeof DeviceSchema>, RegExp][] = [
      [{ poolName: '' }, /devices\[1\]\.pool_name: must not be empty/],
      [{ deviceName: 'x'.repeat(300) }, /device_name: must be no more than 253/],
      [{ cdiDeviceIds: ['/dev/sda'] }, /cdi_device_ids\[0\]: "\/dev\/sda": must have the form/],
      [{ cdiDeviceIds: Array<string>(65).fill('a/b=c') }, /cdi_device_ids: at most 64/],
      [{ requestNames: [''] }, /request_names: must not be empty/],
      [{ requestNames: Array<string>(257).fill('a') }, /request_names: at most 256/],
    ];
    for (const [change, reason] of broken) {
      const results = prepared(['a', 'b'], {
        a: { devices: [device(), device(change)] },
        b: { devices: [device()] },
      });
      const [bad, good] = [results.get('a'), results.get('b')];
      assert.match(bad !== undefined && 'error' in bad ? bad.error : '', reason);
      assert.ok(good !== undefined && 'devices' in good);
    }
    const many = prepared(['a'], { a: { devices: Array.from({ length: 257 }, () => device()) } }).get('a');
    assert.match(JSON.stringify(many), /257 devices, at most 256/);
  });

  test('has its errors cut', () => {
    const result = prepared(['a'], { a: { error: 'x'.repeat(100_000) } }).get('a');
    assert.ok(result !== undefined && 'error' in result && result.error.length === 2049);
  });

  test('of claims that are given back is whether each was', () => {
    const answer = create(NodeUnprepareResourcesResponseSchema, { claims: { a: {}, b: { error: 'busy' } } });
    const results = readUnprepared(['a', 'b', 'c'].map(claim), answer);
    assert.deepEqual(
      [...results.values()].map(({ error }) => error),
      [undefined, 'busy', 'the driver has left this claim out of its answer'],
    );
  });
});
