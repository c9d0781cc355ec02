import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatTable } from '../../../../src/cli/terminal/table.ts';
import {
  formatBytes,
  formatRoughDuration,
  quoteForShell,
  sanitize,
} from '../../../../src/cli/terminal/text.ts';

describe('a table', () => {
  test('has columns as wide as their cells, three spaces apart unless a gap is given', () => {
    const rows = [
      ['NAME', 'SIZE', 'ID'],
      ['a', '1.5 KiB', 'x'],
      ['longer', '', ''],
    ];
    assert.equal(formatTable(rows), 'NAME     SIZE      ID\na        1.5 KiB   x\nlonger\n');
    assert.equal(formatTable(rows, { gap: 2 }), 'NAME    SIZE     ID\na       1.5 KiB  x\nlonger\n');
    assert.equal(formatTable([]), '');
  });

  test('is not widened to the last by one very long cell', () => {
    const [head = '', , second = ''] = formatTable([
      ['A', 'B'],
      ['x'.repeat(90), 'y'],
      ['z', 'w'],
    ]).split('\n');
    assert.equal(head.indexOf('B'), 63);
    assert.equal(second.indexOf('w'), 63);
  });

  test('has one line for each row, whatever the cells contain', () => {
    assert.equal(formatTable([['a\nb', '\u001b[2J', '\u2028', '\u202e']]), 'a?b   ?[2J   ?   ?\n');
  });
});

test('texts: bytes, rough durations and words for a shell', () => {
  assert.deepEqual([0, 1023, 1536, 5 * 1024 ** 5].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.5 KiB',
    '5120.0 TiB',
  ]);
  const durations = [-5000, 0, 119_000, 120_000, 7_200_000, 172_800_000, Number.NaN];
  assert.deepEqual(durations.map(formatRoughDuration), ['0s', '0s', '119s', '2m', '2h', '2d', '-']);
  assert.deepEqual(['/a-b.c', "it's"].map(quoteForShell), ['/a-b.c', String.raw`'it'\''s'`]);
  assert.equal(sanitize('a\tb\u0085c\u2029d\u2066e'), 'a?b?c?d?e');
});
