import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Inhibitor } from '../../../../src/agent/shutdown/index.ts';
import type { InhibitorOptions } from '../../../../src/agent/shutdown/inhibitor.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';

interface Child {
  readonly program: string;
  /** Those that were started. */
  pids(): Promise<readonly number[]>;
}

/** Stands in for systemd-inhibit; `script` comes before the `cat` that it is to run. */
async function fakeChild(folder: TemporaryFolder, script = ''): Promise<Child> {
  const program = join(folder.path, 'systemd-inhibit');
  const log = join(folder.path, 'pids');
  await writeFile(log, '');
  await writeFile(program, `#!/bin/sh\necho $$ "$@" >> ${log}\n${script}\nexec cat\n`, { mode: 0o755 });
  const lines = async () => (await readFile(log, 'utf8')).trim().split('\n').filter(Boolean);
  return { program, pids: async () => (await lines()).map((line) => Number.parseInt(line, 10)) };
}

const isAlive = (pid: number | undefined): boolean => {
  try {
    process.kill(pid ?? 0, 0);
    return pid !== undefined;
  } catch {
    return false;
  }
};

/** `factor`: how much faster than real time its time passes. */
function hold(program: string, factor = 1) {
  const told: string[] = [];
  const onChange: InhibitorOptions['onChange'] = (state) =>
    void told.push(state.isHeld ? 'held' : `lost: ${state.reason}`);
  const inhibitor = new Inhibitor({ program, env: process.env, clock: fastClock(factor), onChange });
  const news = (count: number) => waitFor(`${count} news`, () => told.length >= count || undefined);
  return { inhibitor, told, news, [Symbol.asyncDispose]: () => inhibitor.release() };
}

describe('the lock of logind', () => {
  test('is held until it is let go, by a child that ends then', async () => {
    await using folder = await temporaryFolder('inhibit-');
    const { program, pids } = await fakeChild(folder);
    await using lock = hold(program);
    lock.inhibitor.acquire();
    lock.inhibitor.acquire();
    await lock.news(1);
    const [pid, ...others] = await pids();
    assert.deepEqual([lock.told, others, isAlive(pid)], [['held'], [], true]);
    assert.match(
      await readFile(join(folder.path, 'pids'), 'utf8'),
      /--what=shutdown --mode=delay --who=nodeward --why=.* cat$/m,
    );
    await lock.inhibitor.release();
    await lock.inhibitor.release();
    assert.equal(isAlive(pid), false);
    assert.deepEqual(lock.told, ['held']);
    lock.inhibitor.acquire();
    await lock.news(2);
    assert.deepEqual(lock.told, ['held', 'held']);
  });

  test('is taken again when its child was killed', async () => {
    await using folder = await temporaryFolder('inhibit-');
    const { program, pids } = await fakeChild(folder);
    await using lock = hold(program, 4);
    lock.inhibitor.acquire();
    await lock.news(1);
    process.kill((await pids())[0] ?? 0, 'SIGKILL');
    await lock.news(3);
    assert.deepEqual(lock.told.slice(1), [`lost: ${program} ended by SIGKILL`, 'held']);
  });

  test('that is refused says why, and is not held', async () => {
    await using folder = await temporaryFolder('inhibit-');
    const { program } = await fakeChild(folder, 'echo "Failed to inhibit: Access denied" >&2; exit 1');
    await using lock = hold(program);
    lock.inhibitor.acquire();
    await lock.news(1);
    assert.equal(lock.told[0], 'lost: Failed to inhibit: Access denied');
  });

  test('without the program it is said', async () => {
    await using lock = hold('/does/not/exist/systemd-inhibit');
    lock.inhibitor.acquire();
    await lock.news(1);
    assert.match(lock.told[0] ?? '', /^lost: there is no .*systemd-inhibit on this machine$/);
  });

  test('is let go at once though logind does not answer, and nothing is left running', async () => {
    await using folder = await temporaryFolder('inhibit-');
    const { program, pids } = await fakeChild(folder, 'exec sleep 1000');
    await using lock = hold(program);
    lock.inhibitor.acquire();
    const [pid] = await waitFor('the child', async () => {
      const found = await pids();
      return found.length > 0 ? found : undefined;
    });
    await lock.inhibitor.release();
    assert.equal(isAlive(pid), false);
    assert.deepEqual(lock.told, []);
  });

  test('that logind never gives is told, and asked for again', async () => {
    await using folder = await temporaryFolder('inhibit-');
    const { program } = await fakeChild(folder, 'exec sleep 1000');
    await using lock = hold(program, 200);
    lock.inhibitor.acquire();
    await lock.news(1);
    assert.equal(lock.told[0], 'lost: logind has not given the lock within 30 s');
  });
});
