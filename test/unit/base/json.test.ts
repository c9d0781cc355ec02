import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRecord, tryParseJson, tryParseRecord } from '../../../src/base/index.ts';

test('gives what the text says, or undefined', () => {
  assert.deepEqual(tryParseJson('[1]'), [1]);
  assert.equal(tryParseJson('null'), null);
  assert.equal(tryParseJson('{'), undefined);
  assert.deepEqual(tryParseRecord('{"a":1}'), { a: 1 });
  for (const text of ['[1]', 'null', '"a"', '1', '{', ''])
    assert.equal(tryParseRecord(text), undefined, text);
});

test('a record is an object that is no list', () => {
  assert.equal(isRecord({}), true);
  for (const value of [[], null, undefined, 'a', 1]) assert.equal(isRecord(value), false);
});
