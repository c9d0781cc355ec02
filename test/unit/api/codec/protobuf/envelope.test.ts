import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeEnvelope,
  encodeEnvelope,
  encodeList,
  encodeWatchEvent,
  ProtobufError,
} from '../../../../../src/api/codec/protobuf/index.ts';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const magic = '6b387300';
const decode = (hex: string) => decodeEnvelope(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

describe('an envelope', () => {
  it('says the type of the message in it', () => {
    const bytes = encodeEnvelope({ apiVersion: 'v1', kind: 'Pod' }, Uint8Array.of(1, 2));

    assert.equal(hexOf(bytes), `${magic}0a090a0276311203506f64120201021a002200`);
    assert.deepEqual(decodeEnvelope(bytes), { apiVersion: 'v1', kind: 'Pod', raw: bytes.subarray(17, 19) });
  });

  it('may say nothing at all', () => {
    assert.deepEqual(decode(magic), { apiVersion: '', kind: '', raw: new Uint8Array() });
  });

  it('may name a content type, and have fields that nobody knows', () => {
    assert.equal(hexOf(decode(`${magic} 2203616263 2a0161 120107`).raw), '07');
  });

  const cases: [string, string, RegExp][] = [
    ['nothing', '', /^the protobuf envelope is missing/],
    ['JSON', '7b7d', /^the protobuf envelope is missing/],
    ['half of the magic bytes', '6b38', /^the protobuf envelope is missing/],
    ['a message that is cut off', `${magic}1205`, /premature EOF/],
    ['a type that is no message', `${magic}0801`, /wrong wire type/],
    ['a type that goes beyond its end', `${magic}0a020a0576`, /./],
    ['a compressed message', `${magic}1a04677a6970`, /^contentEncoding: must be empty/],
  ];
  for (const [what, hex, message] of cases) {
    it(`is refused when it is ${what}`, () => {
      assert.throws(
        () => decode(hex),
        (error) => error instanceof ProtobufError && message.test(error.message),
      );
    });
  }
});

describe('a list', () => {
  it('is put together from the messages of its items, empty ones too', () => {
    const items = [Uint8Array.of(), Uint8Array.of(8, 1)];
    assert.equal(hexOf(encodeList(items, { resourceVersion: '7' })), '0a03120137120012020801');
  });
});

describe('a watch event', () => {
  it('stands in a frame of its own, the length in four bytes before it', () => {
    const frame = encodeWatchEvent('ADDED', Uint8Array.of(0xaa));
    assert.equal(hexOf(frame), '0000000c0a05414444454412030a01aa');
  });

  it('may be longer than one byte can say', () => {
    const frame = encodeWatchEvent('ADDED', new Uint8Array(70_000));
    assert.equal(new DataView(frame.buffer).getUint32(0), frame.length - 4);
  });
});
