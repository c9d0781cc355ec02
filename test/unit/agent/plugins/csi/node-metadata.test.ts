import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  computeAddition,
  computeRemoval,
  nodeIdAnnotation,
  readNodeIds,
} from '../../../../../src/agent/plugins/csi/node-metadata.ts';
import type { Node } from '../../../../../src/api/index.ts';
import { driverOf } from './drivers.ts';

function nodeWith(annotation: string | undefined, labels: Record<string, string> = {}): Node {
  const annotations = annotation === undefined ? {} : { [nodeIdAnnotation]: annotation };
  return { metadata: { name: 'node-1', annotations, labels } };
}

const driver = driverOf('one.example.com', { nodeId: 'id-1', topology: { 'example.com/zone': 'a' } });

describe('what the Node tells of CSI drivers', () => {
  test('is an annotation with the ids of all of them, and the labels of each', () => {
    assert.deepEqual(computeAddition(nodeWith('{"two.example.com":"id-2"}'), driver), {
      labels: { 'example.com/zone': 'a' },
      annotations: { [nodeIdAnnotation]: '{"one.example.com":"id-1","two.example.com":"id-2"}' },
    });
  });

  test('is not written where it stands there', () => {
    const node = nodeWith('{"one.example.com":"id-1"}', { 'example.com/zone': 'a', other: 'x' });
    assert.equal(computeAddition(node, driver), undefined);
  });

  test('is refused where a label says otherwise, with both values and what to do', () => {
    assert.throws(
      () => computeAddition(nodeWith(undefined, { 'example.com/zone': 'b' }), driver),
      /example\.com\/zone is "a", and the label of the Node says "b": take the label away/,
    );
  });

  test('is written anew where the annotation is no map of texts', () => {
    for (const broken of ['', '{', '[]', 'null', '7', '{"one.example.com":1}']) {
      assert.equal(readNodeIds(nodeWith(broken)).size, 0);
      const marks = computeAddition(nodeWith(broken), driver);
      assert.equal(marks?.annotations?.[nodeIdAnnotation], '{"one.example.com":"id-1"}');
      const none = computeRemoval(nodeWith(broken), new Set());
      assert.deepEqual(none, { annotations: { [nodeIdAnnotation]: null } });
    }
    const half = computeRemoval(nodeWith('{"one.example.com":"id-1","two":2}'), new Set());
    assert.equal(half?.annotations?.[nodeIdAnnotation], '{"one.example.com":"id-1"}');
    assert.equal(computeRemoval(nodeWith(undefined), new Set()), undefined);
  });

  test('goes with the driver, the annotation with the last of them; labels stay', () => {
    const both = nodeWith('{"one.example.com":"id-1","two.example.com":"id-2"}');
    assert.deepEqual(computeRemoval(both, new Set(['one.example.com'])), {
      annotations: { [nodeIdAnnotation]: '{"two.example.com":"id-2"}' },
    });
    assert.deepEqual(computeRemoval(both, new Set(['one.example.com', 'two.example.com'])), {
      annotations: { [nodeIdAnnotation]: null },
    });
    assert.equal(computeRemoval(both, new Set(['three.example.com'])), undefined);
  });
});
