import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFrame, Frames } from '../../../../../../src/apiserver/storage/etcd/wire/frames.ts';
import { GrpcError } from '../../../../../../src/apiserver/storage/etcd/wire/grpc-error.ts';

test('messages come out as they were sent, wherever they are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (messages, cuts) => {
        const sent = Buffer.concat(messages.map(encodeFrame));
        const frames = new Frames();
        const got: Buffer[] = [];
        for (let at = 0, n = 0; at < sent.length; n++) {
          const size = cuts[n % cuts.length] ?? 1;
          got.push(...frames.take(sent.subarray(at, at + size)));
          at += size;
        }
        assert.deepEqual(
          got.map((each) => [...each]),
          messages.map((each) => [...each]),
        );
      },
    ),
  );
});

test('a message that is too long or compressed is refused by its head', () => {
  const head = (compressed: number, length: number) => {
    const bytes = Buffer.alloc(5);
    bytes[0] = compressed;
    bytes.writeUInt32BE(length, 1);
    return bytes;
  };
  for (const bytes of [head(1, 3), head(0, 0xffff_ffff)]) {
    assert.throws(() => new Frames().take(bytes), GrpcError);
  }
});
