import assert from 'node:assert/strict';
import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { startChild } from '../../../src/base/index.ts';

describe('a child process', () => {
  test('is there before anything of it is missed', async () => {
    const child = await startChild(() => spawn('/bin/sh', ['-c', 'echo said; exit 3']));
    const said: string[] = [];
    child.stdout.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    assert.deepEqual([await once(child, 'close'), said], [[3, null], ['said\n']]);
    child.emit('error', new Error('a signal cannot be sent'));
  });

  test('that cannot be started rejects, whether the system says it at once or later', async () => {
    await assert.rejects(
      startChild(() => spawn('/nowhere/program')),
      /ENOENT/,
    );
    const noMemory = (): ChildProcess => {
      throw new Error('spawn ENOMEM');
    };
    await assert.rejects(startChild(noMemory), /ENOMEM/);
    const late = new ChildProcess();
    setImmediate(() => late.emit('error', new Error('spawn EMFILE')));
    await assert.rejects(
      startChild(() => late),
      /EMFILE/,
    );
  });
});
