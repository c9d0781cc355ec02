import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { leaseKind } from '../../../../../src/api/index.ts';
import type { LongBody } from '../../../../../src/apiserver/http/answers/list-body.ts';
import { joinBody, joinWhenShort, stitchList } from '../../../../../src/apiserver/http/answers/list-body.ts';
import { objectEncoding } from '../../../../../src/apiserver/registry/encoding.ts';
import type { Stored } from '../../../../../src/apiserver/storage/index.ts';

const encoding = objectEncoding(leaseKind, 'k8s.io');
const head = { kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1', metadata: { resourceVersion: '77' } };
const largestPiece = 256 * 1024;

function leaseOf(size: number, index: number): Stored {
  const name = `lease-${index}`;
  const value = encoding.encode({ metadata: { name }, spec: { holderIdentity: 'ü'.repeat(size) } });
  return { key: `/registry/leases/x/${name}`, revision: index + 1, createRevision: 1, value };
}

function listOf(sizes: readonly number[]): { items: Stored[]; body: LongBody } {
  assert.ok(encoding.splice);
  const items = sizes.map(leaseOf);
  return { items, body: stitchList(head, items, encoding.splice) };
}

describe('a list that is stitched together', () => {
  test('is the JSON of its objects, and as long as it says', () => {
    const sizes = fc.array(fc.oneof(fc.nat(50), fc.nat(100_000), fc.constantFrom(131_000, 200_000)), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(sizes, (all) => {
        const { items, body } = listOf(all);
        const copies: Buffer[] = [];
        for (const piece of body.pieces()) copies.push(Buffer.from(piece)); // its bytes are used again
        const bytes = Buffer.concat(copies);
        assert.equal(bytes.length, body.length);
        assert.deepEqual(JSON.parse(bytes.toString('utf8')), {
          ...head,
          items: items.map((item) => encoding.read(item)),
        });
        assert.ok(joinBody(body).equals(bytes));
        const short = joinWhenShort(body);
        assert.ok(!Buffer.isBuffer(short) || short.equals(bytes));
      }),
      { numRuns: 60 },
    );
  });

  test('comes in pieces of which none is larger than it must be', () => {
    const { body } = listOf(Array.from({ length: 4_000 }, () => 100));
    const sizes = [...body.pieces()].map((piece) => piece.length);
    assert.ok(sizes.length > 3, `${sizes.length} pieces`);
    for (const size of sizes) assert.ok(size <= largestPiece);
    const large = listOf([10, 400_000, 10]);
    const largest = Math.max(...[...large.body.pieces()].map((piece) => piece.length));
    assert.ok(
      largest < 2 * 400_000 + 1_000,
      'an object is never divided, so a piece may have to hold a large one',
    );
  });

  test('is made at once when it is short', () => {
    assert.ok(Buffer.isBuffer(joinWhenShort(listOf([1, 2]).body)));
    assert.ok(Buffer.isBuffer(joinWhenShort(listOf([]).body)));
    assert.ok(!Buffer.isBuffer(joinWhenShort(listOf([200_000, 200_000]).body)));
  });
});
