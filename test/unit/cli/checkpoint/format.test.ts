import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { tableOfCheckpoints } from '../../../../src/cli/checkpoint/format.ts';
import { writeResult } from '../../../../src/cli/terminal/output.ts';
import { createContext } from '../run-command.ts';

describe('the list of checkpoints', () => {
  test('--output name, which shells complete from, leaves out what a node sent that is no id', () => {
    const id = 'checkpoint-web_shop-main-2026-01-02T03:04:05Z';
    const sent = [`${id}$(reboot)`, id, '--help', '', 7, null, undefined, `${id}\n${id}x y`];
    const written: string[] = [];
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    });
    const table = tableOfCheckpoints({ items: sent.map((each) => ({ id: each })) }, 0);
    writeResult(createContext({ stdout }), 'name', table);
    assert.equal(written.join(''), `${id}\n`);
  });
});
