import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { LogFileOptions } from '../../../../src/apiserver/audit/index.ts';
import { openLogFile } from '../../../../src/apiserver/audit/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

async function lab(options: Partial<LogFileOptions> = {}) {
  const folder = await temporaryFolder();
  const { log, text } = recordedLog();
  const state = { lost: 0 };
  const path = join(folder.path, 'audit.log');
  let now = Date.parse('2026-01-02T03:04:05.000Z');
  const clock = { ...systemClock, now: () => (now += 1) };
  const onLost = (lines: number) => {
    state.lost += lines;
  };
  const limits = { maxBytes: 1e6, maxBackups: 3, bufferBytes: 1e6 };
  const sink = await openLogFile({ path, ...limits, clock, log, onLost, ...options });
  const lines = async (name = 'audit.log') =>
    (await readFile(join(folder.path, name), 'utf8')).split('\n').filter((line) => line !== '');
  return { sink, path, folder, state, logged: text, lines };
}

describe('a log file', () => {
  test('has every line in order when it is closed, for its owner alone', async () => {
    const { sink, path, lines, state } = await lab();
    const all = Array.from({ length: 5000 }, (_, index) => `{"line":${index}}`);
    for (const line of all) sink.write(line);
    await sink[Symbol.asyncDispose]();
    assert.deepEqual(await lines(), all);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal(state.lost, 0);
  });

  test('is gone on with after a start', async () => {
    const { sink, path, lines } = await lab();
    sink.write('one');
    await sink[Symbol.asyncDispose]();
    const again = await lab({ path });
    again.sink.write('two');
    await again.sink[Symbol.asyncDispose]();
    assert.deepEqual(await lines(), ['one', 'two']);
  });

  test('is set aside when it is full, whole lines only, and the oldest of those go', async () => {
    const { sink, folder, lines } = await lab({ maxBytes: 100, maxBackups: 2 });
    for (let index = 0; index < 20; index += 1) {
      sink.write(`line ${String(index).padStart(30, '0')}`);
      await waitFor('it to be written', async () =>
        (await lines()).some((line) => line.endsWith(` ${String(index).padStart(30, '0')}`)),
      );
    }
    await sink[Symbol.asyncDispose]();
    const names = (await readdir(folder.path)).sort();
    assert.equal(names.length, 3, names.join(' '));
    const kept = (await Promise.all(names.slice(1).concat('audit.log').map(lines))).flat();
    const numbers = kept.map((line) => Number(line.slice(5)));
    assert.deepEqual(
      numbers,
      [...numbers.keys()].map((each) => each + 20 - numbers.length),
      'without a gap',
    );
  });

  test('that cannot be written is told once, and loses nothing that its buffer holds', async () => {
    const { sink, state, logged } = await lab({ path: '/dev/full', bufferBytes: 1000 });
    for (let index = 0; index < 100; index += 1) sink.write('x'.repeat(99));
    assert.equal(state.lost, 90, 'beyond the buffer they are lost, and counted');
    await waitFor('the failure to be told', () => /the audit log cannot be written/.test(logged()));
    await sink[Symbol.asyncDispose]();
    assert.equal(state.lost, 100);
    assert.equal(logged().match(/cannot be written/g)?.length, 1);
  });

  test('that is taken away is made again when it is full', async () => {
    const { sink, path, folder, lines } = await lab({ maxBytes: 10 });
    sink.write('0123456789');
    await waitFor('it to be written', async () => (await lines()).length === 1);
    await rm(path);
    sink.write('after');
    await sink[Symbol.asyncDispose]();
    assert.deepEqual(await lines(), ['after']);
    assert.deepEqual(await readdir(folder.path), ['audit.log']);
  });

  test('in a folder that is not there is refused at once', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'none', 'audit.log');
    await assert.rejects(lab({ path }), /the audit log .*none\/audit\.log cannot be written: .*ENOENT/);
    await mkdir(join(folder.path, 'none'));
    await chmod(join(folder.path, 'none'), 0o700);
    await (await lab({ path })).sink[Symbol.asyncDispose]();
  });
});
