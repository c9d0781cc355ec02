import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  encodeItem,
  encodeObject,
  encodeObjectList,
  encodeWatchEvent,
  eventFrames,
  leaseKind,
  partialObjectMetadata,
  toPartial,
} from '../../../../../src/api/index.ts';
import { joinBody, joinWhenShort } from '../../../../../src/apiserver/http/answers/list-body.ts';
import { joinMessages } from '../../../../../src/apiserver/http/answers/message-list.ts';
import { messageWriter } from '../../../../../src/apiserver/http/answers/message-writer.ts';
import { objectEncoding } from '../../../../../src/apiserver/registry/encoding.ts';
import type { Stored } from '../../../../../src/apiserver/storage/index.ts';

const encoding = objectEncoding(leaseKind, 'k8s.io');
const resource = { kind: leaseKind, groupSuffix: 'k8s.io', encoding };
const whole = { as: 'object', encoding: 'protobuf' } as const;
const partial = { as: 'partial', encoding: 'protobuf' } as const;
const head = { kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1', metadata: { resourceVersion: '77' } };

/** As this program writes it, or as another one does that uses the same etcd. */
function leaseOf(size: number, isForeign: boolean, index: number): Stored {
  const name = `lease-${index}`;
  const own = encoding.encode({ metadata: { name }, spec: { holderIdentity: 'ü'.repeat(size) } });
  const value = isForeign ? Buffer.from(JSON.stringify(JSON.parse(own.toString()), undefined, 1)) : own;
  return { key: `/registry/leases/x/${name}`, revision: index + 1, createRevision: 1, value };
}

const size = fc.oneof(fc.nat(50), fc.nat(100_000), fc.constantFrom(131_000, 200_000));
const leases = fc
  .array(fc.tuple(size, fc.boolean()), { maxLength: 12 })
  .map((all) => all.map(([bytes, isForeign], index) => leaseOf(bytes, isForeign, index)));

describe('a list in protobuf', () => {
  test('has the bytes of the parsed objects, and as many as it says', async () => {
    const property = fc.asyncProperty(leases, async (items) => {
      const body = await joinMessages(head, items, messageWriter(resource, whole));
      const messages = items.map((item) => encodeItem(leaseKind, encoding.read(item), 'protobuf'));
      const expected = encodeObjectList(head, messages, 'protobuf');
      assert.ok(joinBody(body).equals(expected));
      const short = joinWhenShort(body);
      assert.ok(!Buffer.isBuffer(short) || short.equals(expected));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test('has the metadata alone where they are asked for', async () => {
    const items = [leaseOf(3, false, 0), leaseOf(3, true, 1)];
    const body = await joinMessages(head, items, messageWriter(resource, partial));
    const messages = items.map((item) =>
      encodeItem(partialObjectMetadata, toPartial(encoding.read(item), 'k8s.io'), 'protobuf'),
    );
    assert.ok(joinBody(body).equals(encodeObjectList(head, messages, 'protobuf')));
  });
});

test('an event in protobuf has the bytes of the parsed object, or says how much room it needs', () => {
  const write = messageWriter(resource, whole);
  const frames = eventFrames({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
  const property = fc.property(size, fc.boolean(), fc.nat(5), fc.nat(300), (bytes, isForeign, from, room) => {
    const stored = leaseOf(bytes, isForeign, 6);
    const expected = encodeWatchEvent('ADDED', encodeObject(leaseKind, encoding.read(stored), 'protobuf'));
    const into = Buffer.alloc(from + Math.max(0, expected.length - 150) + room);
    const writeMessage = (target: Uint8Array, at: number) => write(stored, target, at);
    const end = frames.write('ADDED', writeMessage, into, from);
    if (end > into.length) assert.ok(into.length < from + expected.length + 60);
    else assert.ok(into.subarray(from, end).equals(expected));
  });
  fc.assert(property, { numRuns: 300 });
});
