import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isTarHeader } from '../../../../../src/agent/checkpoint/dump/tar.ts';
import { tarArchive } from '../archives.ts';

test('a header of a tar archive is known by its checksum', () => {
  const block = tarArchive('config.dump', 'content').subarray(0, 512);
  assert.ok(isTarHeader(block));
  assert.equal(isTarHeader(block.subarray(0, 511)), false);
  assert.equal(isTarHeader(new Uint8Array(512)), false);
  fc.assert(
    fc.property(fc.nat(511), fc.integer({ min: 1, max: 255 }), (at, change) => {
      if (at >= 148 && at < 156) return; // the checksum itself may be written in several ways
      const damaged = Uint8Array.from(block);
      damaged[at] = ((damaged[at] ?? 0) + change) % 256;
      assert.equal(isTarHeader(damaged), false);
    }),
  );
  fc.assert(fc.property(fc.uint8Array({ minLength: 512, maxLength: 512 }), (bytes) => !isTarHeader(bytes)));
});
