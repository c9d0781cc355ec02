import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rmdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import type { AgentLockOptions, Lock } from '../../../../src/agent/lock/index.ts';
import { acquireAgentLock } from '../../../../src/agent/lock/index.ts';
import { ExitError, exitCodes, systemClock } from '../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder, unmountBelow } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

/** A folder with a root folder and room for lock files. */
async function place() {
  const home = await temporaryFolder('agent-lock-');
  const rootDir = join(home.path, 'root');
  await mkdir(rootDir, { mode: 0o700 });
  const { log, text } = recordedLog();
  return {
    rootDir,
    home,
    text,
    take: (lockFile: string, extra: Partial<AgentLockOptions> = {}): Promise<Lock> =>
      acquireAgentLock({
        lockFile: join(home.path, lockFile),
        ...{ rootDir, exitOnContention: false, clock: systemClock, log },
        ...extra,
      }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

async function refusalOf(taking: Promise<Lock>): Promise<ExitError> {
  const error: unknown = await taking.then(
    async (lock) => {
      await lock.close();
      assert.fail('it was taken');
    },
    (thrown) => thrown,
  );
  assert.ok(error instanceof ExitError, String(error));
  return error;
}

describe('one lock in the root folder, taken before anything else is opened', () => {
  test('an agent with another lock file is refused, and told who holds it', async () => {
    await using at = await place();
    await using _first = await at.take('one.lock');
    const before = await readdir(at.rootDir);
    const refused = await refusalOf(at.take('two.lock'));
    assert.equal(refused.exitCode, exitCodes.locked);
    assert.match(refused.message, new RegExp(`another agent uses the root folder ${at.rootDir}`));
    assert.match(refused.message, new RegExp(`process ${process.pid} .*--root-dir$`));
    assert.deepEqual(await readdir(at.rootDir), before, 'nothing is touched');
    assert.deepEqual(
      (await readdir(at.home.path)).filter((name) => name.startsWith('two.')),
      ['two.lock.queue'],
      'its own lock file is given back',
    );
  });

  test('once the first has gone the next takes both', async () => {
    await using at = await place();
    await (await at.take('one.lock')).close();
    await using lock = await at.take('two.lock');
    assert.equal(lock.path, join(at.home.path, 'two.lock'));
  });

  test('of two at once one is refused', async () => {
    await using at = await place();
    const ends = await Promise.allSettled(['a', 'b'].map((name) => at.take(`${name}.lock`)));
    const taken = ends.filter((end) => end.status === 'fulfilled');
    assert.equal(taken.length, 1, JSON.stringify(ends.map(({ status }) => status)));
    for (const { value } of taken) await value.close();
  });

  test('the lock of a killed holder is taken over', async () => {
    await using at = await place();
    const holder = spawn(
      process.execPath,
      [join(import.meta.dirname, 'contender.ts'), join(at.rootDir, 'agent.lock')],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    await createInterface({ input: holder.stdout })[Symbol.asyncIterator]().next();
    assert.match((await refusalOf(at.take('a.lock'))).message, new RegExp(`process ${holder.pid} `));
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await using _lock = await at.take('a.lock');
    assert.match(at.text(), /taking over the lock .*root\/agent\.lock/);
  });

  test('it is lost when one of the two is', async () => {
    await using at = await place();
    await using lock = await at.take('a.lock', { staleMs: 5000 });
    const lost = once(lock.lost, 'abort', { signal: AbortSignal.timeout(20_000) });
    await rmdir(join(at.rootDir, 'agent.lock.lock'));
    await lost;
    assert.match(String(lock.lost.reason), /lost the lock .*root\/agent\.lock/);
  });

  test('a lock file of that name in the root folder is the one lock, through a link too', async () => {
    await using at = await place();
    await using _lock = await at.take('root/agent.lock');
    const link = join(at.home.path, 'link');
    await symlink(at.rootDir, link);
    const refused = await refusalOf(at.take('other.lock', { rootDir: link }));
    assert.match(refused.message, /another agent uses the root folder .*link/);
  });

  test('a full disk does not keep an agent from starting', { skip: process.geteuid?.() !== 0 }, async () => {
    await using at = await place();
    await runSuccessfully('mount', ['-t', 'tmpfs', '-o', 'size=4k,nr_inodes=3', 'none', at.rootDir]);
    try {
      await mkdir(join(at.rootDir, 'filler'));
      await using _lock = await at.take('a.lock');
      assert.match(at.text(), /cannot be locked, for its disk is full; running on/);
    } finally {
      await unmountBelow(at.home.path);
    }
  });
});
