import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describeFile } from '../../../../../src/agent/checkpoint/archive/describe-file.ts';
import { FileSchema } from '../../../../../src/agent/checkpoint/archive/gen/images_pb.js';

function addressOf(groups: readonly number[]): string {
  const bytes = Buffer.alloc(16);
  for (const [at, group] of groups.entries()) bytes.writeUInt16BE(group, at * 2);
  const local = [0, 4, 8, 12].map((at) => bytes.readUInt32LE(at));
  const inet = { family: 10, type: 1, protocol: 17, state: 7, localPort: 53, remotePort: 0, local };
  return describeFile(create(FileSchema, { type: 4, id: 1, inet })).local ?? '';
}

describe('addresses of sockets', () => {
  test('of IPv6 are shortened where most zeros are', () => {
    const examples: [number[], string][] = [
      [[0, 0, 0, 0, 0, 0, 0, 0], '::'],
      [[0, 0, 0, 0, 0, 0, 0, 1], '::1'],
      [[0xfe80, 0, 0, 0, 1, 2, 3, 4], 'fe80::1:2:3:4'],
      [[0x2001, 0xdb8, 0, 1, 0, 0, 0, 1], '2001:db8:0:1::1'],
      [[1, 2, 3, 4, 5, 6, 0, 0], '1:2:3:4:5:6::'],
      [[1, 2, 3, 4, 5, 6, 7, 0x10], '1:2:3:4:5:6:7:10'],
    ];
    for (const [groups, expected] of examples) assert.equal(addressOf(groups), `[${expected}]:53`);
  });

  test('of IPv6 stay the same address, whatever it is', () => {
    const group = fc.oneof(fc.constant(0), fc.constant(0), fc.nat(0xffff));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = addressOf(groups).slice(1, -4);
        assert.ok(isIPv6(text), text);
        assert.deepEqual(expanded(text), groups);
      }),
    );
  });

  test('of connections name both ends', () => {
    const local = [Buffer.from([10, 0, 0, 1]).readUInt32LE()];
    const remote = [Buffer.from([192, 168, 255, 254]).readUInt32LE()];
    const inet = {
      family: 2,
      type: 1,
      protocol: 6,
      state: 1,
      localPort: 40_000,
      remotePort: 443,
      local,
      remote,
    };
    const { name, state, kind } = describeFile(create(FileSchema, { type: 4, id: 1, inet }));
    assert.deepEqual([kind, name, state], ['tcp', '10.0.0.1:40000 -> 192.168.255.254:443', 'ESTABLISHED']);
  });
});

function expanded(text: string): number[] {
  const [before = '', after] = text.split('::');
  const groups = (part: string) =>
    part === '' ? [] : part.split(':').map((each) => Number.parseInt(each, 16));
  const [first, last] = [groups(before), groups(after ?? '')];
  return after === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill(0), ...last];
}
