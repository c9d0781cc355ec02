import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeMessage, encodeMessage, ProtobufError } from '../../../../../src/api/codec/protobuf/index.ts';
import type { Scalar } from '../../../../../src/api/schema/index.ts';
import { field, struct } from '../../../../../src/api/schema/index.ts';

/** A struct of one field, number 1; a pointer, so that zeros are seen. */
const holding = (scalar: Scalar) => struct('Holder', { it: field(1, { t: scalar }, '', { pointer: true }) });
const encode = (scalar: Scalar, value: unknown) =>
  Buffer.from(encodeMessage(holding(scalar), { it: value })).toString('hex');
const decode = (scalar: Scalar, hex: string) =>
  decodeMessage(holding(scalar), Buffer.from(hex.replaceAll(' ', ''), 'hex'))['it'];

describe('a scalar on the wire', () => {
  const cases: [Scalar, unknown, string][] = [
    ['string', 'é', '0a02c3a9'],
    ['string', '', '0a00'],
    ['string', '\ufeffmark', '0a07efbbbf6d61726b'],
    ['bool', true, '0801'],
    ['bool', false, '0800'],
    ['int32', -1, '08ffffffffffffffffff01'],
    ['int32', 2147483647, '08ffffffff07'],
    ['int64', 9007199254740991, '08ffffffffffffff0f'],
    ['int64', -9007199254740991, '0881808080808080f0ff01'],
    ['int64', 4294967296, '088080808010'],
    ['double', 0.5, '09000000000000e03f'],
    ['bytes', 'AP8=', '0a0200ff'],
    ['time', '1970-01-01T00:00:00Z', '0a0408001000'],
    ['time', '2026-10-02T08:15:30Z', '0a0808a2d0fdd5061000'],
    ['time', '1969-12-31T23:59:59Z', '0a0d08ffffffffffffffffff011000'],
    ['microTime', '1970-01-01T00:00:01.000005Z', '0a050801108827'],
    ['duration', '1m30s', '0a07088088aca3cf02'],
    ['quantity', '16Gi', '0a060a0431364769'],
    ['intOrString', 80, '0a06080010501a00'],
    ['intOrString', 'http', '0a0a080110001a0468747470'],
    ['fieldsV1', { 'f:spec': {} }, '0a0f0a0d7b22663a73706563223a7b7d7d'],
    ['raw', [1, 'two'], '0a0b0a095b312c2274776f225d'],
  ];
  for (const [scalar, value, hex] of cases) {
    it(`is what the reference writes, and reads as itself: ${scalar} ${JSON.stringify(value)}`, () => {
      assert.equal(encode(scalar, value), hex);
      assert.deepEqual(decode(scalar, hex), value);
    });
  }

  it('loses what a time cannot say: nanoseconds, and microseconds of a time to the second', () => {
    assert.equal(decode('time', '0a08 0801 1080cab5ee01'), '1970-01-01T00:00:01Z');
    assert.equal(decode('microTime', '0a05 0801 108f27'), '1970-01-01T00:00:01.000005Z');
  });

  const nothing: [Scalar, string, string][] = [
    ['time', 'an empty time', '0a00'],
    ['microTime', 'an empty time', '0a00'],
    ['time', "Go's zero time, the first second of the year 1", '0a0d 088092b8c398feffffff01 1000'],
    ['fieldsV1', 'an empty set of fields', '0a00'],
    ['raw', 'nothing', '0a00'],
    ['raw', 'the null of JSON', '0a060a046e756c6c'],
  ];
  for (const [scalar, what, hex] of nothing) {
    it(`is absent where JSON says null: ${scalar}, ${what}`, () => {
      assert.equal(decode(scalar, hex), undefined);
    });
  }

  it('is the zero of Go where its message is empty', () => {
    assert.equal(decode('quantity', '0a00'), '0');
    assert.equal(decode('intOrString', '0a00'), 0);
    assert.equal(decode('duration', '0a00'), '0s');
  });
});

describe('bytes that are no value of the scalar', () => {
  const cases: [Scalar, string, RegExp][] = [
    ['string', '0a02c328', /^it: invalid UTF-8$/],
    ['string', '0a05616263', /^it: premature EOF/],
    ['string', '0801', /^it: wrong wire type 0 \(Varint\), expected 2 \(LengthDelimited\)$/],
    ['bool', '0affffffff0f', /^it: wrong wire type 2/],
    ['int32', '08ffffffffffffffffffff01', /^it: invalid varint$/],
    ['int64', '088080808080808010', /^it: the integer is beyond ±2\^53$/],
    ['int64', '0880', /^it: premature EOF$/],
    ['double', '09000000000000f07f', /^it: not a finite number$/],
    ['double', '0900', /^it: /],
    ['time', '0a0a08808080808080801010', /^it: /],
    ['time', '0a0708808080808040', /^it: the time is not between the years 0 and 9999$/],
    ['time', '0a020a00', /^it: wrong wire type/],
    ['microTime', '0a0d080110ffffffffffffffffff01', /^it: the nanoseconds are not below one second$/],
    ['quantity', '0a050a036c6f74', /^it: expected a quantity/],
    ['quantity', '0a020a00', /^it: expected a quantity/],
    ['intOrString', '0a020802', /^it: the type is 2, neither 0/],
    ['fieldsV1', '0a040a025b5d', /^it: expected the JSON of an object$/],
    ['raw', '0a040a027b7b', /^it: the bytes are not JSON: /],
    ['raw', '0a060a046b387300', /^it: the bytes are not JSON: /],
  ];
  for (const [scalar, hex, message] of cases) {
    it(`are refused: ${scalar} ${hex}`, () => {
      assert.throws(
        () => decode(scalar, hex),
        (error) => error instanceof ProtobufError && message.test(error.message),
      );
    });
  }
});

describe('a value that is none of the scalar', () => {
  const cases: [Scalar, unknown][] = [
    ['string', 1],
    ['bool', 'true'],
    ['int32', 1.5],
    ['int32', 2 ** 31],
    ['int64', 2 ** 53],
    ['double', '1'],
    ['bytes', [0]],
    ['time', '2026-10-02T08:15:30.5Z'],
    ['time', 'yesterday, at noon..'],
    ['microTime', '2026-10-02T08:15:30Z'],
    ['duration', 'long'],
    ['duration', '2562047h48m'],
    ['quantity', 1],
    ['intOrString', true],
  ];
  for (const [scalar, value] of cases) {
    it(`has no place in a message: ${scalar} ${JSON.stringify(value)}`, () => {
      assert.throws(
        () => encode(scalar, value),
        (error) => error instanceof ProtobufError && error.path === 'it',
      );
    });
  }
});
