import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Stored } from '../../../../src/apiserver/storage/index.ts';
import { SnapshotReader, SnapshotWriter } from '../../../../src/apiserver/storage-admin/snapshot-format.ts';

const objectsOf = fc.array(
  fc.record({
    key: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((name) => `/registry/${name}`),
    revision: fc.integer({ min: 5, max: 1_000 }),
    createRevision: fc.integer({ min: 1, max: 5 }),
    value: fc.uint8Array({ maxLength: 200 }),
  }),
  { maxLength: 20 },
);

describe('a snapshot as bytes', () => {
  test('reads as it was written, in whatever pieces it comes', async () => {
    await fc.assert(
      fc.asyncProperty(objectsOf, fc.array(fc.integer({ min: 1, max: 300 })), async (objects, sizes) => {
        const header = { groupSuffix: 'k8s.io', revision: 1_000 };
        const reader = await SnapshotReader.open(pieces(written(header, objects), sizes), 'it');
        assert.deepEqual(reader.header, header);
        const read = await Array.fromAsync(reader.objects());
        assert.deepEqual(
          read.map((object) => ({ ...object, value: [...object.value] })),
          objects.map((object) => ({ ...object, value: [...object.value] })),
        );
      }),
    );
  });

  test('holds nothing that a store could not', async () => {
    const one = { key: '/registry/a', revision: 7, createRevision: 7, value: new Uint8Array(1) };
    const wrong: Stored[] = [
      { ...one, revision: 8 },
      { ...one, revision: 2.5 },
      { ...one, revision: -1, createRevision: -1 },
      { ...one, createRevision: 9 },
      { ...one, value: new Uint8Array(2 * 1024 * 1024) },
    ];
    for (const object of wrong) {
      const bytes = written({ groupSuffix: 'k8s.io', revision: 7 }, [object]);
      const reader = await SnapshotReader.open(pieces(bytes, []), 'it');
      await assert.rejects(Array.fromAsync(reader.objects()), { code: 'corrupt', message: /a wrong line/ });
    }
  });

  test('is read without taking more than a line, however long that is', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(16 * 1024, 'x');
    }
    await assert.rejects(SnapshotReader.open(endless(), 'it'), {
      code: 'corrupt',
      message: /no snapshot of nodeward/,
    });
  });

  test('of another format says so', async () => {
    const bytes = Buffer.from('{"nodeward":"snapshot","format":2,"groupSuffix":"k8s.io","revision":1}\n');
    await assert.rejects(SnapshotReader.open(pieces(bytes, []), 'it'), {
      code: 'newerFormat',
      message: /format 2, this program knows 1/,
    });
  });
});

function written(header: { groupSuffix: string; revision: number }, objects: readonly Stored[]): Buffer {
  const writer = new SnapshotWriter();
  return Buffer.concat([writer.header(header), writer.objects(objects), writer.trailer()]);
}

async function* pieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}
