import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventKind, nodeKind, podKind } from '../../../../src/api/kinds/index.ts';
import type { StructType } from '../../../../src/api/schema/index.ts';
import { checkerOf, removeWrittenZeros, withWritten } from '../../../../src/api/schema/index.ts';
import { goldenName, goldenTypes, readGolden } from '../codec/protobuf/golden.ts';

/** As a body is kept inside the server. */
function decoded(root: StructType, json: unknown): unknown {
  return checkerOf(root)(structuredClone(json), undefined, { unknown: [], wrong: [] });
}

describe('structs that Go always writes are there in answers', () => {
  for (const type of goldenTypes.filter(({ kind }) => kind !== 'DeleteOptions')) {
    for (const sample of ['full', 'zero'] as const) {
      it(`as the reference writes them: ${type.kind} of ${type.apiVersion}, ${sample}`, () => {
        const { json } = readGolden(sample, goldenName(type));
        assert.deepEqual(withWritten(type.root, decoded(type.root, json)), json);
      });
    }
  }

  it('in the items of lists', () => {
    const container = { name: 'a', resources: {} };
    const when = { lastProbeTime: null, lastTransitionTime: null };
    assert.deepEqual(
      withWritten(podKind.root, {
        spec: { containers: [{ name: 'a' }], volumes: [{ name: 'v', projected: {} }] },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      }),
      {
        metadata: {},
        spec: { containers: [container], volumes: [{ name: 'v', projected: { sources: null } }] },
        status: { conditions: [{ type: 'Ready', status: 'True', ...when }] },
      },
    );
  });

  it('without a change to the object that they are added to', () => {
    const node = { metadata: {}, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    const before = structuredClone(node);
    const written = withWritten(nodeKind.root, node);
    assert.deepEqual(node, before);
    assert.equal(withWritten(nodeKind.root, written), written, 'nothing is missing, nothing is copied');
  });

  it('and what is not set of them are away again inside the server', () => {
    const event = withWritten(eventKind.root, { metadata: {}, involvedObject: { name: 'a' } });
    removeWrittenZeros(eventKind.root, event);
    assert.deepEqual(event, { involvedObject: { name: 'a' } });

    const pod = {
      spec: { nodeName: 'a', containers: null },
      status: { conditions: [{ lastProbeTime: null, status: '' }] },
    };
    removeWrittenZeros(podKind.root, pod);
    assert.deepEqual(pod, {
      spec: { nodeName: 'a', containers: [] },
      status: { conditions: [{ status: '' }] },
    });
  });
});
