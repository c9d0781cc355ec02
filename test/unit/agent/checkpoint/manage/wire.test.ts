import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { chooseCoding, parseRange } from '../../../../../src/agent/checkpoint/manage/content-negotiation.ts';
import { readPinReason } from '../../../../../src/agent/checkpoint/manage/routes.ts';

describe('a Range', () => {
  for (const [header, range] of [
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=2-5', { first: 2, last: 5 }],
    ['bytes=2-', { first: 2, last: 9 }],
    ['bytes=2-99', { first: 2, last: 9 }],
    ['bytes=-3', { first: 7, last: 9 }],
    ['bytes=-99', { first: 0, last: 9 }],
    ['Bytes= 1-2 ', { first: 1, last: 2 }],
    ['bytes=10-', 'none'],
    ['bytes=10-12', 'none'],
    ['bytes=-0', 'none'],
    ['bytes=5-2', 'whole'],
    ['bytes=0-1,4-5', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=0-1e3', 'whole'],
    ['items=0-1', 'whole'],
    ['', 'whole'],
    [undefined, 'whole'],
    ['bytes=9999999999999999-', 'whole'],
  ] as const) {
    test(`${JSON.stringify(header)} of ten bytes`, () => assert.deepEqual(parseRange(header, 10), range));
  }

  test('is never outside the content', () => {
    const number = fc.oneof(fc.constant(''), fc.nat(40).map(String), fc.maxSafeNat().map(String));
    fc.assert(
      fc.property(number, number, fc.nat(30), (from, to, size) => {
        const range = parseRange(`bytes=${from}-${to}`, size);
        if (typeof range === 'string') return;
        assert.ok(range.first >= 0 && range.first <= range.last && range.last < size);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => assert.equal(parseRange(text, 10), 'whole')));
  });
});

describe('Accept-Encoding', () => {
  for (const [header, coding] of [
    [undefined, undefined],
    ['', undefined],
    ['*', undefined],
    ['identity', undefined],
    ['br, deflate', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate, gzip, br, zstd', 'zstd'],
    ['gzip;q=1, zstd;q=0.5', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.5, identity;q=1', undefined],
    ['gzip;q=x', undefined],
  ] as const) {
    test(`${JSON.stringify(header)} asks for ${coding ?? 'nothing'}`, () =>
      assert.equal(chooseCoding(header), coding));
  }
});

describe('the reason of a pin', () => {
  test('is plain text, or in JSON, or none', () => {
    assert.equal(readPinReason(undefined, undefined), undefined);
    assert.equal(readPinReason('text/plain', Buffer.from(' before the upgrade\n')), 'before the upgrade');
    assert.equal(readPinReason('application/json', Buffer.from('{"reason":"kept"}')), 'kept');
    assert.equal(readPinReason('application/json; charset=utf-8', Buffer.from('{}')), undefined);
    assert.equal(readPinReason('text/plain', Buffer.from('{"reason":"kept"}')), '{"reason":"kept"}');
  });

  test('is refused where it is none', () => {
    for (const [type, text] of [
      ['application/json', '{'],
      ['application/json', '[]'],
      ['application/json', '{"reason":1}'],
      ['text/plain', 'two\nlines'],
      ['text/plain', 'x'.repeat(257)],
      ['text/plain', 'a\u001b[2J'],
    ] as const)
      assert.throws(() => readPinReason(type, Buffer.from(text)), { name: 'RefusedError', code: 400 });
  });
});
