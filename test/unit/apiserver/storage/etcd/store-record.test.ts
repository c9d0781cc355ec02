import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  encodeRecord,
  parseMark,
  parseRecord,
} from '../../../../../src/apiserver/storage/etcd/store-record.ts';

const groupSuffix = 'k8s.io';

describe('what is recorded of a store in etcd', () => {
  test('reads as it was written', () => {
    const incomplete = { from: 'sqlite:/a', at: '2026-01-01T00:00:00.000Z' };
    const revisions = { offset: 1_000_000_007, floor: 1_000_000_900 };
    for (const record of [
      { groupSuffix },
      { groupSuffix, revisions },
      { groupSuffix, revisions, incomplete },
    ]) {
      const expected = { revisions: undefined, incomplete: undefined, ...record };
      assert.deepEqual(parseRecord(encodeRecord(record)), expected);
    }
    const mark = { to: 'sqlite:/a', at: incomplete.at, moved: true };
    assert.deepEqual(parseMark(encodeRecord(mark)), mark);
  });

  test('is not guessed where it cannot be understood', () => {
    const wrong = [
      '',
      'null',
      '[]',
      '{}',
      '{"groupSuffix":1}',
      '{"groupSuffix":"k8s.io","revisions":{}}',
      '{"groupSuffix":"k8s.io","revisions":{"offset":-1,"floor":1}}',
      '{"groupSuffix":"k8s.io","revisions":{"offset":1e300,"floor":1}}',
    ];
    for (const text of wrong) assert.equal(parseRecord(Buffer.from(text)), undefined, text);
  });

  test('a mark that cannot be understood keeps writers off, but is no reason not to start', () => {
    assert.deepEqual(parseMark(Buffer.from('?')), { to: 'unknown', at: 'unknown', moved: false });
  });
});
