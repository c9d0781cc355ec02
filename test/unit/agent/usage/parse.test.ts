import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  parseIoStat,
  parseLimit,
  parseOomKills,
  parsePressure,
  parseServiceBytes,
} from '../../../../src/agent/usage/parse.ts';

test('a limit is none where the kernel says max, or the number that stands for it in version 1', () => {
  assert.equal(parseLimit('67108864\n'), 67108864);
  for (const text of ['max\n', '9223372036854771712\n'])
    assert.equal(parseLimit(text), Number.POSITIVE_INFINITY, text);
  for (const text of ['', '-1', 'maximum', undefined]) assert.equal(parseLimit(text), undefined);
});

describe('kills for want of memory', () => {
  test('are found in both versions', () => {
    assert.equal(parseOomKills('low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n'), 2);
    assert.equal(parseOomKills('oom_kill_disable 0\nunder_oom 0\noom_kill 5\n'), 5);
    assert.equal(parseOomKills('oom_kill_disable 0\nunder_oom 0\n'), undefined);
  });
});

describe('pressure', () => {
  const text =
    'some avg10=1.50 avg60=0.25 avg300=0.00 total=123456\nfull avg10=0.10 avg60=0.00 avg300=0.00 total=99\n';

  test('has some and full', () => {
    assert.deepEqual(parsePressure(text), {
      some: { totalMicros: 123456, avg10: 1.5, avg60: 0.25, avg300: 0 },
      full: { totalMicros: 99, avg10: 0.1, avg60: 0, avg300: 0 },
    });
  });

  test('has no full for the CPU of old kernels, and is unknown without some', () => {
    assert.equal(parsePressure(text.split('\n')[0])?.full, undefined);
    assert.equal(parsePressure(text.split('\n')[1]), undefined);
    assert.equal(parsePressure('some avg10=inf avg60=0.25 avg300=0.00 total=1'), undefined);
    assert.equal(parsePressure(undefined), undefined);
  });
});

describe('bytes of devices', () => {
  test('are summed over devices', () => {
    const unified =
      '8:0 rbytes=100 wbytes=20 rios=1 wios=1 dbytes=7 dios=1\n259:0 rbytes=1 wbytes=2 rios=0 wios=0 dbytes=0 dios=0\n';
    assert.deepEqual(parseIoStat(unified), { readBytes: 101, writtenBytes: 22 });
    const separate =
      '8:0 Read 100\n8:0 Write 20\n8:0 Sync 0\n8:0 Total 120\n8:16 Read 1\n8:16 Write 2\nTotal 123\n';
    assert.deepEqual(parseServiceBytes(separate), { readBytes: 101, writtenBytes: 22 });
  });

  test('are none where no device was used, and unknown where one is beyond all bounds', () => {
    assert.deepEqual(parseIoStat(''), { readBytes: 0, writtenBytes: 0 });
    assert.deepEqual(parseServiceBytes('Total 0\n'), { readBytes: 0, writtenBytes: 0 });
    assert.equal(parseIoStat(`8:0 rbytes=${'9'.repeat(30)} wbytes=0`), undefined);
    assert.equal(parseServiceBytes(undefined), undefined);
  });
});

test('whatever stands in a file: a figure is a number of at least 0, or unknown', () => {
  const words = fc.constantFrom(
    'oom_kill',
    'max',
    'total=',
    'some avg10=',
    '8:0 Read',
    'rbytes=',
    '\n',
    ' ',
    '-1',
    '\0',
  );
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
    fc
      .array(fc.oneof(words, fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String)), { maxLength: 30 })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(garbage, (text) => {
      const io = [parseIoStat(text), parseServiceBytes(text)];
      const pressure = parsePressure(text);
      const figures = [
        ...[parseLimit(text) === Number.POSITIVE_INFINITY ? 0 : parseLimit(text), parseOomKills(text)],
        ...io.flatMap((each) => [each?.readBytes, each?.writtenBytes]),
        ...[pressure?.some, pressure?.full].flatMap((each) => Object.values(each ?? {})),
      ];
      for (const figure of figures) assert(figure === undefined || (Number.isFinite(figure) && figure >= 0));
    }),
    { numRuns: 300 },
  );
});
