import assert from 'node:assert/strict';
import { access, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { endLeftover, recordProcess } from '../../../../../src/agent/identity/control-plane/leftover.ts';
import {
  identifyProcess,
  isSameProcess,
} from '../../../../../src/agent/identity/control-plane/process-identity.ts';
import { ExitError, exitCodes, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { isAlive, startProcess, temporaryFolder } from '../../../../support/index.ts';

const end = (path: string) => endLeftover(path, systemClock, silentLogger());
const sleeper = () => startProcess('sleep', ['60']);

describe('the process that was noted', () => {
  test('is ended, stopped as it is, and the note is gone', async () => {
    await using folder = await temporaryFolder();
    await using process = await sleeper();
    const note = join(folder.path, 'note');
    await recordProcess(note, process.pid);
    process.signal('SIGSTOP');
    await end(note);
    assert.equal((await process.exited).signal, 'SIGKILL');
    await assert.rejects(access(note), { code: 'ENOENT' });
    await end(note);
  });

  for (const [field, value] of Object.entries({
    startTime: '1',
    bootId: '00000000-0000-0000-0000-000000000000',
    command: 'sleep 61',
  })) {
    test(`is somebody else when its ${field} differs, and lives on`, async () => {
      await using folder = await temporaryFolder();
      await using process = await sleeper();
      const note = join(folder.path, 'note');
      await recordProcess(note, process.pid);
      const noted = JSON.parse(await readFile(note, 'utf8'));
      await writeFile(note, JSON.stringify({ ...noted, [field]: value }));
      await end(note);
      assert.equal(await isAlive(process.pid), true);
    });
  }

  test('may be gone already', async () => {
    await using folder = await temporaryFolder();
    const note = join(folder.path, 'note');
    await using process = await sleeper();
    await recordProcess(note, process.pid);
    await process.kill9();
    await end(note);
    await recordProcess(note, process.pid);
    await assert.rejects(access(note), { code: 'ENOENT' });
  });
});

describe('a control plane whose agent runs beside this one', () => {
  /** The folder's note names `child`, started by `agent` as the holder of one.lock. */
  async function noteOf(folder: string, child: number, agent: number): Promise<string> {
    const note = join(folder, 'note');
    await recordProcess(note, child, '/run/one.lock');
    const noted = JSON.parse(await readFile(note, 'utf8'));
    await writeFile(note, JSON.stringify({ ...noted, agent: await identifyProcess(agent) }));
    return note;
  }

  test('under another lock is left alone, and the agent told', async () => {
    await using folder = await temporaryFolder();
    await using child = await sleeper();
    await using agent = await sleeper();
    const note = await noteOf(folder.path, child.pid, agent.pid);
    const error = await endLeftover(note, systemClock, silentLogger(), '/run/two.lock').then(
      () => assert.fail('it was ended'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ExitError);
    assert.equal(error.exitCode, exitCodes.locked);
    assert.match(
      error.message,
      new RegExp(`process ${agent.pid}, which holds the lock /run/one.lock; .*--root-dir`),
    );
    assert.equal(await isAlive(child.pid), true);
    await access(note);
  });

  test('under the same lock, or no longer, has lost it', async () => {
    for (const [lock, isGone] of [
      ['/run/one.lock', false],
      ['/run/two.lock', true],
    ] as const) {
      await using folder = await temporaryFolder();
      await using child = await sleeper();
      await using agent = await sleeper();
      const note = await noteOf(folder.path, child.pid, agent.pid);
      if (isGone) await agent.kill9();
      await endLeftover(note, systemClock, silentLogger(), lock);
      assert.equal((await child.exited).signal, 'SIGKILL');
    }
  });
});

describe('a note that says nothing', () => {
  const own = { pid: process.pid, startTime: '1', bootId: 'x', command: 'node' };
  for (const [why, text] of Object.entries({
    'is empty': '',
    'is no JSON': '{"pid":',
    'is a list': '[1]',
    'names no process': '{"startTime":"1"}',
    'names the first process': JSON.stringify({ ...own, pid: 1 }),
    'names a group of processes': JSON.stringify({ ...own, pid: -1 }),
    'names the agent itself': JSON.stringify(own),
    'has no command': JSON.stringify({ ...own, command: '' }),
    'is too long': JSON.stringify({ ...own, command: 'x'.repeat(100_000) }),
  })) {
    test(`because it ${why} is removed`, async () => {
      await using folder = await temporaryFolder();
      const note = join(folder.path, 'note');
      await writeFile(note, text);
      await end(note);
      await assert.rejects(access(note), { code: 'ENOENT' });
    });
  }

  test('because it is a link elsewhere is not followed', async () => {
    await using folder = await temporaryFolder();
    await using process = await sleeper();
    const real = join(folder.path, 'real');
    const note = join(folder.path, 'note');
    await recordProcess(real, process.pid);
    await symlink(real, note);
    await end(note);
    assert.equal(await isAlive(process.pid), true);
    await access(real);
  });
});

test('a process is itself and no other', async () => {
  await using one = await sleeper();
  await using other = await sleeper();
  const [first, again, second] = await Promise.all([one.pid, one.pid, other.pid].map(identifyProcess));
  assert.ok(first && again && second);
  assert.equal(isSameProcess(first, again), true);
  assert.equal(isSameProcess(first, second), false);
  assert.equal(first.command, 'sleep 60');
});
