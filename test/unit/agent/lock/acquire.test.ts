import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import type { LockOptions, ProcessProbe } from '../../../../src/agent/lock/index.ts';
import { acquireLock, createProcessProbe } from '../../../../src/agent/lock/index.ts';
import { lstatIfThere, refuseForeign } from '../../../../src/agent/lock/record.ts';
import {
  ExitError,
  exitCodes,
  silentLogger,
  systemClock,
  writeFileAtomic,
} from '../../../../src/base/index.ts';
import { fastClock } from '../../../support/fast-clock.ts';

const program = join(import.meta.dirname, 'contender.ts');
const folders: string[] = [];
const children = new Set<ChildProcess>();

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function freshPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lock-'));
  folders.push(folder);
  return join(folder, 'agent.lock');
}

const take = (path: string, extra: Partial<LockOptions> = {}) =>
  acquireLock({ path, clock: systemClock, log: silentLogger(), ...extra });

interface Told {
  event: string;
  message: string;
  pid: number;
}

/** An agent in a process of its own; `next()` is the next thing it tells. */
function contender(path: string, extra: object = {}) {
  const child = spawn(process.execPath, [program, path, JSON.stringify(extra)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  const ended = once(child, 'exit').then(() => children.delete(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    pid: child.pid ?? 0,
    async next(): Promise<Told> {
      const line = await lines.next();
      assert.ok(line.value, 'the process ended without a word');
      return JSON.parse(line.value);
    },
    async end() {
      child.stdin.end();
      await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function aborted(signal: AbortSignal): Promise<Error> {
  if (!signal.aborted) await once(signal, 'abort', { signal: AbortSignal.timeout(10_000) });
  return signal.reason;
}

const rejects = (promise: Promise<unknown>, exitCode: number, message: RegExp) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof ExitError, String(error));
    assert.match(error.message, message);
    assert.equal(error.exitCode, exitCode);
    return true;
  });

describe('the lock', { concurrency: 4 }, () => {
  test('is taken, refused to a second with the name of the first, given back, and taken again', async () => {
    const path = await freshPath();
    {
      await using lock = await take(path);
      const record = JSON.parse(await readFile(path, 'utf8'));
      assert.equal(record.pid, process.pid);
      assert.equal((await lstat(path)).mode & 0o777, 0o600);
      assert.deepEqual(await readdir(`${path}.lock`), []);
      const named = new RegExp(`process ${process.pid} \\(.*node.*\\), since ${record.since}; stop it first`);
      await rejects(take(path), exitCodes.locked, named);
      assert.equal(lock.lost.aborted, false);
      await lock.close();
    }
    assert.deepEqual(await readdir(join(path, '..')), ['agent.lock.queue']);
    await using again = await take(path);
    assert.equal(again.path, path);
  });

  test('goes to exactly one of ten that come at once', async () => {
    const path = await freshPath();
    const all = Array.from({ length: 10 }, () => contender(path));
    const told = await Promise.all(all.map((one) => one.next()));
    const winner = told.find((one) => one.event === 'got');
    assert.ok(winner);
    for (const one of told) {
      if (one === winner) continue;
      assert.equal(one.event, `exit${exitCodes.locked}`, one.message);
      assert.match(one.message, new RegExp(`process ${winner.pid} `));
    }
    await Promise.all(all.map((one) => one.end()));
  });

  test('left behind by kill -9 goes at once to exactly one of ten', async () => {
    const path = await freshPath();
    const first = contender(path);
    assert.equal((await first.next()).event, 'got');
    await first.kill();
    assert.ok(await lstatIfThere(`${path}.lock`), 'the folder stays behind');
    const all = Array.from({ length: 10 }, () => contender(path));
    const told = await Promise.all(all.map((one) => one.next()));
    assert.equal(told.filter((one) => one.event === 'got').length, 1);
    await Promise.all(all.map((one) => one.end()));
  });

  test('of a stopped holder is taken over, and the holder learns of it when it goes on', async () => {
    const path = await freshPath();
    const first = contender(path, { staleMs: 5_000 });
    assert.equal((await first.next()).event, 'got');
    first.child.kill('SIGSTOP');
    await rejects(take(path, { staleMs: 5_000 }), exitCodes.locked, new RegExp(`process ${first.pid} `));
    const old = new Date(Date.now() - 6_000);
    await utimes(`${path}.lock`, old, old); // as if it had been stopped for longer
    await using second = await take(path, { staleMs: 5_000 });
    first.child.kill('SIGCONT');
    const told = await first.next();
    assert.equal(told.event, 'lost');
    assert.match(told.message, /lost the lock .*; stopping/);
    await first.end();
    assert.ok(await lstatIfThere(`${path}.lock`), 'the loser removes nothing of the winner');
    assert.equal(JSON.parse(await readFile(path, 'utf8')).pid, process.pid);
    assert.equal(second.lost.aborted, false);
  });

  test('of a holder that cannot be looked at counts by its folder alone', async () => {
    const path = await freshPath();
    const real = createProcessProbe();
    const elsewhere: ProcessProbe = {
      ...real,
      self: async () => ({ ...(await real.self()), namespace: 'pid:[1]' }),
    };
    const holder = await take(path, { probe: elsewhere, staleMs: 5_000 });
    await rejects(take(path, { staleMs: 5_000 }), exitCodes.locked, /of another container/);
    // Killed at once: record and folder stay, nobody touches the folder any more.
    const record = await readFile(path);
    await holder.close();
    await writeFile(path, record, { mode: 0o600 });
    await mkdir(`${path}.lock`);
    await using lock = await take(path, { staleMs: 5_000, clock: fastClock(20) });
    assert.equal(lock.lost.aborted, false);
  });

  test('its own heartbeats wake nobody, but a removed folder does at once', async () => {
    const path = await freshPath();
    const rests: number[] = [];
    const clock = {
      ...systemClock,
      async sleep(ms: number, signal?: AbortSignal) {
        rests.push(ms);
        await systemClock.sleep(ms * 1000, signal); // no check by time
      },
    };
    await using lock = await take(path, { clock, staleMs: 5000 });
    const touched = async () => (await lstat(`${path}.lock`)).mtimeMs;
    for (const _beat of [1, 2]) {
      const before = await touched();
      while ((await touched()) === before) await systemClock.sleep(50);
    }
    await systemClock.sleep(50);
    assert.deepEqual(rests, [5000]);
    await rmdir(`${path}.lock`);
    assert.match(String(await aborted(lock.lost)), /was removed/);
  });

  test('is lost when its folder is removed, and not free before its holder has ended', async () => {
    const path = await freshPath();
    await using lock = await take(path);
    await rmdir(`${path}.lock`);
    const reason = await aborted(lock.lost);
    assert.ok(reason instanceof ExitError);
    assert.equal(reason.exitCode, exitCodes.locked);
    await rejects(take(path), exitCodes.locked, new RegExp(`process ${process.pid} `));
    await lock.close();
    await using next = await take(path);
    assert.equal(next.lost.aborted, false);
  });

  test('survives the deletion of its file, which is written again', async () => {
    const path = await freshPath();
    await using lock = await take(path);
    const before = await readFile(path, 'utf8');
    await rm(path);
    while ((await lstatIfThere(path)) === undefined) await systemClock.sleep(20);
    assert.equal(await readFile(path, 'utf8'), before);
    await writeFile(path, 'rubbish');
    while ((await readFile(path, 'utf8')) !== before) await systemClock.sleep(20);
    assert.equal(lock.lost.aborted, false);
    assert.equal(lock.contended.aborted, false);
  });

  test('is lost when its file names another holder', async () => {
    const path = await freshPath();
    await using lock = await take(path);
    const record = JSON.parse(await readFile(path, 'utf8'));
    // In one step, as an agent writes it: the holder would write its own over a file that it finds empty.
    await writeFileAtomic(path, JSON.stringify({ ...record, id: 'other', pid: 4242 }));
    assert.match((await aborted(lock.lost)).message, /process 4242 has taken it over/);
  });

  test('closes twice and leaves SIGABRT to the watchdog', async () => {
    const path = await freshPath();
    const lock = await take(path);
    assert.equal(process.listenerCount('SIGABRT'), 0);
    await Promise.all([lock.close(), lock.close()]);
    await lock.close();
  });
});

describe('giving the lock away', { concurrency: 4 }, () => {
  test('to an agent that asks for it, which waits until it is free', async () => {
    const path = await freshPath();
    const first = contender(path, { exitOnContention: true });
    assert.equal((await first.next()).event, 'got');
    const asking = take(path);
    const told = await first.next();
    assert.equal(told.event, 'contended');
    assert.match(told.message, /asks for the lock/);
    await first.end();
    await using lock = await asking;
    assert.equal(JSON.parse(await readFile(path, 'utf8')).pid, process.pid);
    assert.equal(lock.lost.aborted, false);
  });

  test('when its file is deleted', async () => {
    const path = await freshPath();
    await using lock = await take(path, { exitOnContention: true });
    await rm(path);
    assert.match((await aborted(lock.contended)).message, /was deleted/);
    assert.equal(lock.lost.aborted, false);
  });

  test('when its file is written to', async () => {
    const path = await freshPath();
    await using lock = await take(path, { exitOnContention: true });
    await writeFile(path, '1234\n');
    assert.match((await aborted(lock.contended)).message, /was changed/);
  });

  test('is not waited for without end', async () => {
    const path = await freshPath();
    await using _holder = await take(path, { exitOnContention: true });
    await rejects(take(path, { yieldMs: 300 }), exitCodes.locked, /another agent holds the lock/);
  });

  test('and a holder that keeps it does not mind being asked', async () => {
    const path = await freshPath();
    await using lock = await take(path);
    await rejects(take(path), exitCodes.locked, /another agent/);
    await systemClock.sleep(100);
    assert.equal(lock.contended.aborted, false);
  });
});

describe('what stands where the lock should be', () => {
  test('a link, a FIFO and a folder are refused, at each of the three paths', async () => {
    for (const suffix of ['', '.queue', '.lock']) {
      for (const kind of ['link', 'FIFO', 'folder', 'file']) {
        if ((suffix === '.lock') === (kind === 'folder') || (suffix !== '.lock' && kind === 'file')) continue;
        const path = await freshPath();
        const place = `${path}${suffix}`;
        if (kind === 'link') await symlink('/etc/passwd', place);
        else if (kind === 'FIFO') execFileSync('mkfifo', [place]);
        else if (kind === 'file') await writeFile(place, '');
        else await mkdir(place);
        await rejects(take(path), exitCodes.unwritable, new RegExp(`${place} is a (symbolic )?${kind}`));
      }
    }
  });

  test('what belongs to another user is refused', async () => {
    const path = await freshPath();
    await writeFile(path, '');
    const facts = await lstatIfThere(path);
    assert.ok(facts);
    refuseForeign(path, facts, 'file');
    facts.uid += 1n;
    assert.throws(
      () => refuseForeign(path, facts, 'file'),
      /belongs to user \d+ and this agent runs as user \d+/,
    );
  });

  test('rubbish in the lock file does not stand in the way', async () => {
    for (const rubbish of ['', '4711\n', '{}', 'null', '{"pid":"x"}', 'x'.repeat(10_000)]) {
      const path = await freshPath();
      await writeFile(path, rubbish);
      await using lock = await take(path);
      assert.equal(lock.lost.aborted, false);
    }
  });

  test('a file in the folder of a dead holder is named', async () => {
    const path = await freshPath();
    const self = await createProcessProbe().self();
    const dead = { ...self, bootId: 'before', id: 'x', since: '2026-01-01T00:00:00Z', yields: false };
    await writeFile(path, JSON.stringify(dead));
    await mkdir(`${path}.lock`);
    await writeFile(join(`${path}.lock`, 'file'), '');
    await rejects(take(path), exitCodes.unwritable, /agent\.lock\.lock, which must be empty/);
  });

  test('a folder that cannot be written or made is named', async () => {
    const path = await freshPath();
    await writeFile(path, '');
    await rejects(take(join(path, 'x.lock')), exitCodes.unwritable, /a file is in the way of the folder/);
    await rejects(take('/proc/nodeward/x.lock'), exitCodes.unwritable, /cannot make the lock.*--lock-file/);
    await using lock = await take(`${path}-a/b/x.lock`);
    assert.equal(lock.lost.aborted, false);
    if (process.geteuid?.() !== 0) {
      const folder = join(path, '../closed');
      await mkdir(folder);
      await chmod(folder, 0o500);
      await rejects(take(join(folder, 'x.lock')), exitCodes.unwritable, /user \d+ may not write in/);
    }
  });
});
