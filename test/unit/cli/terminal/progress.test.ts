import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { formatProgressBar, showByteProgress } from '../../../../src/cli/terminal/progress.ts';

describe('progress', () => {
  test('is a bar that fills', () => {
    assert.equal(formatProgressBar(0, 1024 ** 2), `[${' '.repeat(20)}]   0 % of 1.0 MiB`);
    assert.equal(formatProgressBar(1024 ** 2 / 4, 1024 ** 2), `[=====${' '.repeat(15)}]  25 % of 1.0 MiB`);
    assert.equal(formatProgressBar(2 ** 21, 1024 ** 2), `[${'='.repeat(20)}] 100 % of 1.0 MiB`);
    assert.equal(formatProgressBar(0, 0), `[${'='.repeat(20)}] 100 % of 0 B`);
  });

  test('takes itself away', () => {
    let text = '';
    const stderr = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    {
      using progress = showByteProgress({ stderr: Object.assign(stderr, { isTTY: true }) }, 'reading', 10);
      progress.add(5);
    }
    assert.match(text, /reading \[ +\] +0 % of 10 B … 0\.\d s/);
    assert.ok(text.endsWith('\r\u001b[K'));
  });
});
