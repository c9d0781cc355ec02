import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { isJournal } from '../../../../src/cli/terminal/context.ts';

test('a stream goes to the journal when JOURNAL_STREAM has the device and inode of its descriptor', () => {
  const fd = openSync('/dev/null', 'w');
  const stream = Object.assign(new Writable(), { fd });
  const { dev, ino } = fstatSync(fd, { bigint: true });
  assert.equal(isJournal(stream, { JOURNAL_STREAM: `${dev}:${ino}` }), true);
  assert.equal(isJournal(stream, { JOURNAL_STREAM: `${dev}:${ino + 1n}` }), false, 'it was redirected');
  for (const text of ['', '1', `${dev}:`, `${dev}:${ino}:1`, 'a:b'])
    assert.equal(isJournal(stream, { JOURNAL_STREAM: text }), false, text);
  assert.equal(isJournal(stream, {}), false);
  assert.equal(isJournal(new Writable(), { JOURNAL_STREAM: `${dev}:${ino}` }), false, 'it has no descriptor');
  closeSync(fd);
  assert.equal(isJournal(stream, { JOURNAL_STREAM: `${dev}:${ino}` }), false, 'it is closed');
});
