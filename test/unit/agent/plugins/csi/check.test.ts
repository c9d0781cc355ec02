import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { checkDriverName, checkNodeInfo } from '../../../../../src/agent/plugins/csi/check.ts';
import { NodeGetInfoResponseSchema } from '../../../../../src/agent/plugins/csi/gen/csi_pb.js';

function infoOf(segments: Record<string, string>, nodeId = 'node-1', maxVolumesPerNode = 0n) {
  return checkNodeInfo(
    create(NodeGetInfoResponseSchema, { nodeId, maxVolumesPerNode, accessibleTopology: { segments } }),
  );
}

describe('what a CSI driver says of the node', () => {
  test('is taken with its labels sorted and without a limit where it is zero', () => {
    const info = infoOf({ 'topology.example.com/zone': 'b', 'topology.example.com/region': '' });
    assert.deepEqual(info, {
      nodeId: 'node-1',
      maxVolumes: undefined,
      topology: { 'topology.example.com/region': '', 'topology.example.com/zone': 'b' },
    });
    assert.deepEqual(checkNodeInfo(create(NodeGetInfoResponseSchema, { nodeId: 'x' })).topology, {});
  });

  test('has its limit cut to what the API can hold, and a negative one is refused', () => {
    assert.equal(infoOf({}, 'node-1', 39n).maxVolumes, 39);
    assert.equal(infoOf({}, 'node-1', 2n ** 40n).maxVolumes, 2 ** 31 - 1);
    assert.throws(() => infoOf({}, 'node-1', -1n), /max_volumes_per_node: it is -1/);
  });

  test('needs an id of 1 to 256 bytes', () => {
    assert.throws(() => infoOf({}, ''), /node_id: it is empty/);
    assert.equal(infoOf({}, 'x'.repeat(256)).nodeId.length, 256);
    assert.throws(() => infoOf({}, 'ü'.repeat(129)), /node_id: it has 258 bytes, at most 256 are allowed/);
  });

  test('is refused where a label could not be set', () => {
    assert.throws(() => infoOf({ 'a b': 'c' }), /key "a b": name part must consist of/);
    assert.throws(() => infoOf({ zone: 'has space' }), /value of zone: a valid label must be/);
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`key-${index}`, 'x']));
    assert.throws(() => infoOf(many), /it has 65 keys, at most 64 are allowed/);
  });
});

test('the name of a driver is one that the API takes', () => {
  for (const name of ['csi.example.com', 'EBS.csi.aws.com', 'x'.repeat(63)]) checkDriverName(name);
  for (const name of ['', 'x'.repeat(64), 'with/slash', '-a', 'a_b']) {
    assert.throws(() => checkDriverName(name), /cannot be the name of a CSI driver/);
  }
});
