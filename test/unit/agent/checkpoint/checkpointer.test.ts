import assert from 'node:assert/strict';
import { appendFile, chmod, lstat, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { systemClock, untilAborted } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { tarArchive } from './archives.ts';
import { failedBecause, lab, settings } from './checkpoint-lab.ts';
import { endless } from './stand-in-runtime.ts';

/** Time stands still, so that what is left of a time limit is all of it; sleeps of `ms` end when the bell rings. */
function clockWithBell(ms: number): Clock & { ring(): void } {
  const bell = Promise.withResolvers<void>();
  return {
    now: () => Date.UTC(2025, 10, 21, 10, 3, 4),
    monotonicMs: () => 1000,
    sleep: (asked, signal) =>
      asked === ms && signal
        ? Promise.race([bell.promise, untilAborted(signal)])
        : systemClock.sleep(asked, signal),
    ring: () => bell.resolve(),
  };
}

describe('checkpoint', () => {
  test('makes a private tar archive with the specified name and leaves nothing else', async () => {
    await using at = await lab();
    let handed: { mode: number; size: number; folderMode: number } | undefined;
    at.runtime.write = async (file) => {
      const [facts, folder] = [await lstat(file), await stat(dirname(file))];
      handed = { mode: facts.mode & 0o777, size: facts.size, folderMode: folder.mode & 0o777 };
      await writeFile(file, tarArchive('config.dump', '{}'));
    };
    const { path } = await at.ask();
    assert.match(
      path,
      /\/checkpoints\/checkpoint-web_shop-main-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z\.tar$/,
    );
    assert.deepEqual(handed, { mode: 0o600, size: 0, folderMode: 0o700 });
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal((await stat(path)).nlink, 1);
    assert.equal((await stat(at.folder)).mode & 0o777, 0o700);
    assert.deepEqual(await readFile(path), Buffer.from(tarArchive('config.dump', '{}')));
    const name = path.slice(at.folder.length + 1);
    assert.deepEqual(await at.left(), [name.replace(/tar$/, 'json'), name]);
  });

  test('takes a file that the runtime put in the place of ours, and makes it private', async () => {
    await using at = await lab();
    at.runtime.write = async (file) => {
      await rm(file);
      await writeFile(file, tarArchive('a', 'b'), { mode: 0o644 });
      await chmod(file, 0o644);
    };
    const { path } = await at.ask();
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test('never replaces an archive: within one millisecond names still differ', async () => {
    const clock = clockWithBell(-1);
    await using at = await lab({ clock });
    const first = await at.ask();
    const second = await at.ask();
    await using later = await lab({ clock });
    await mkdir(later.folder, { recursive: true });
    const taken = join(later.folder, first.path.slice(at.folder.length + 1));
    await writeFile(taken, 'keep me');
    const third = await later.ask();
    assert.notEqual(first.path, second.path);
    assert.notEqual(third.path, taken);
    assert.equal(await readFile(taken, 'utf8'), 'keep me');
  });

  test('unknown names are 404 to the client', async () => {
    await using at = await lab();
    await assert.rejects(at.ask({ pod: 'db' }), { reason: 'noPod', message: 'pod does not exist' });
    await assert.rejects(at.ask({ container: 'x' }), {
      reason: 'noContainer',
      message: 'container x does not exist',
    });
    at.runtime.write = async () => {
      throw new RuntimeError('notFound', 'no such container');
    };
    await assert.rejects(at.ask(), { reason: 'noContainer' });
  });

  test('names that no object can have never reach the runtime or the disk', async () => {
    await using at = await lab();
    at.runtime.find = async () => {
      throw new Error('asked');
    };
    const bad = fc
      .oneof(fc.constantFrom('..', '../x', '/etc', 'a/b', '', 'A', 'a\0b', '.inflight-x'), fc.string())
      .filter((name) => !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name));
    await fc.assert(
      fc.asyncProperty(bad, async (name) => {
        await assert.rejects(at.ask({ pod: name }), { reason: 'noPod' });
        await assert.rejects(at.ask({ container: name }), { reason: 'noContainer' });
      }),
    );
    await assert.rejects(at.left(), { code: 'ENOENT' });
  });

  test('a runtime that does not even find it in time is given up, and asked no further', async () => {
    await using at = await lab();
    let gaveUp: AbortSignal | undefined;
    at.runtime.find = (_namespace, _pod, _container, cancel) => {
      gaveUp = cancel;
      return new Promise((_resolve, reject) => {
        const giveUp = () => reject(new RuntimeError('cancelled', 'given up'));
        cancel?.addEventListener('abort', giveUp);
        if (cancel?.aborted) giveUp();
      });
    };
    await assert.rejects(at.ask({ timeoutMs: 50 }), failedBecause('timeout', /timed out after 0.05 s/));
    assert.equal(gaveUp?.aborted, true);
    const client = new AbortController();
    const asked = at.ask({ cancel: client.signal });
    client.abort();
    await assert.rejects(asked, failedBecause('cancelled', /the client went away/));
  });

  test('a container that does not run is refused before anything is made', async () => {
    await using at = await lab();
    at.runtime.found = { id: 'c1', sandboxId: 's1', podUid: 'u1', state: 'exited' };
    await assert.rejects(at.ask(), failedBecause('notRunning', /it has ended/));
    at.runtime.found = { id: 'c1', sandboxId: 's1', podUid: 'u1', state: 'created' };
    await assert.rejects(at.ask(), failedBecause('notRunning', /it has not started yet/));
    await assert.rejects(at.left(), { code: 'ENOENT' });
  });
});

describe('a checkpoint that fails', () => {
  test('tells why and leaves nothing', async () => {
    await using at = await lab();
    const cases: [Error, string, RegExp][] = [
      [
        new RuntimeError('unimplemented', 'method x'),
        'unimplemented',
        /the container runtime cannot checkpoint: method x/,
      ],
      [
        new RuntimeError('unavailable', 'dropped'),
        'unavailable',
        /the container runtime is not available: dropped/,
      ],
      [new RuntimeError('timeout', 'slow'), 'unavailable', /the container runtime does not answer: slow/],
      [new RuntimeError('failed', 'criu failed'), 'failed', /criu failed/],
      [new Error('odd'), 'storage', /odd/],
    ];
    for (const [error, reason, why] of cases) {
      at.runtime.write = async (file) => {
        await writeFile(file, 'half an archive');
        throw error;
      };
      await assert.rejects(at.ask(), failedBecause(reason, why));
      assert.deepEqual(await at.left(), []);
    }
  });

  test('a runtime that claims success must have written a tar archive', async () => {
    await using at = await lab();
    at.runtime.write = async () => undefined;
    await assert.rejects(at.ask(), failedBecause('storage', /.*reported success but wrote nothing/));
    at.runtime.write = (file) => appendFile(file, 'no tar'.repeat(1000));
    await assert.rejects(at.ask(), failedBecause('storage', /.*what it wrote is not a tar archive/));
    at.runtime.write = async (file) => {
      await rm(file);
    };
    await assert.rejects(at.ask(), failedBecause('storage', /ENOENT.*/));
    at.runtime.write = async (file) => {
      await rm(file);
      await symlink('/etc/passwd', file);
    };
    await assert.rejects(at.ask(), failedBecause('storage', /.*not a file/));
    assert.deepEqual(await at.left(), []);
  });

  test('after its timeout, with the default where the request has none', async () => {
    for (const timeoutMs of [undefined, 0, 2500]) {
      const clock = clockWithBell(timeoutMs || 7000);
      await using at = await lab({ clock, defaultTimeoutMs: 7000 });
      at.runtime.write = endless(clock.ring);
      const why = new RegExp(`timed out after ${timeoutMs ? '2.5' : '7'} s`);
      await assert.rejects(
        at.ask(timeoutMs === undefined ? {} : { timeoutMs }),
        failedBecause('timeout', why),
      );
      assert.deepEqual(await at.left(), []);
    }
  });

  test('a timeout of years is one of years', async () => {
    const asked: number[] = [];
    const sleep: Clock['sleep'] = (ms, signal) => {
      asked.push(ms);
      return systemClock.sleep(ms, signal);
    };
    await using at = await lab({ clock: { ...systemClock, sleep } });
    const { path } = await at.ask({ timeoutMs: 1e15 });
    assert.ok(path);
    const [search, dump] = asked;
    assert.ok(search === 1e15 && dump !== undefined && dump > 1e15 - 60_000, `${asked}`);
  });

  test('when its journal could not be understood later, before the runtime is asked', async () => {
    await using at = await lab();
    at.runtime.found = { id: 'c 1', sandboxId: 's1', podUid: 'u1', state: 'running' };
    await assert.rejects(at.ask(), failedBecause('storage', /.*names no container/));
    assert.deepEqual(at.runtime.files, []);
    assert.deepEqual(await at.left(), []);
  });

  test('when the client goes away, also while it waits for its turn', async () => {
    await using at = await lab();
    const begun = Promise.withResolvers<void>();
    at.runtime.write = endless(begun.resolve);
    const [first, second] = [new AbortController(), new AbortController()];
    const [one, two] = [at.ask({ cancel: first.signal }), at.ask({ cancel: second.signal })];
    await begun.promise;
    second.abort();
    await assert.rejects(two, failedBecause('cancelled', /the client went away/));
    first.abort();
    await assert.rejects(one, failedBecause('cancelled', /the client went away/));
    assert.equal(at.runtime.files.length, 1);
    assert.deepEqual(await at.left(), []);
  });

  test('when the folder cannot be used, before the runtime is asked', async () => {
    await using at = await lab();
    await writeFile(at.folder, 'a file');
    await assert.rejects(at.ask(), failedBecause('storage', /.*EEXIST.*/));
    await rm(at.folder);
    await symlink('/tmp', at.folder);
    await assert.rejects(at.ask(), failedBecause('storage', /.*is not a folder.*/));
    await rm(at.folder);
    assert.deepEqual(at.runtime.files, []);
  });

  test('a folder that others can enter is closed to them first', async () => {
    await using at = await lab();
    await mkdir(at.folder);
    await chmod(at.folder, 0o755);
    await at.ask();
    assert.equal((await stat(at.folder)).mode & 0o777, 0o700);
  });
});

describe('several checkpoints', () => {
  /** Dumps that last until let go, and how many were under way at once. */
  function gate(at: Awaited<ReturnType<typeof lab>>) {
    const state = { now: 0, most: 0, letGo: Promise.withResolvers<void>() };
    at.runtime.write = async (file) => {
      state.now += 1;
      state.most = Math.max(state.most, state.now);
      await state.letGo.promise;
      await writeFile(file, tarArchive('a', 'b'));
      state.now -= 1;
    };
    return state;
  }

  test('of one container wait for each other', async () => {
    await using at = await lab({ settings: settings({ maxConcurrent: 10 }) });
    const state = gate(at);
    const asked = Promise.all([at.ask(), at.ask(), at.ask()]);
    await waitFor('the first to begin', () => state.now === 1);
    state.letGo.resolve();
    const paths = new Set((await asked).map(({ path }) => path));
    assert.equal(paths.size, 3);
    assert.equal(state.most, 1);
  });

  test('of different containers go on at a time, up to the limit of the node', async () => {
    await using at = await lab({ settings: settings({ maxConcurrent: 2 }) });
    const state = gate(at);
    at.runtime.find = async (_namespace, _pod, container) => ({
      id: container,
      sandboxId: 's',
      podUid: 'u',
      state: 'running',
    });
    const asked = Promise.all(['a', 'b', 'c', 'd', 'e'].map((container) => at.ask({ container })));
    await waitFor('two to begin', () => state.now === 2);
    state.letGo.resolve();
    await asked;
    assert.equal(state.most, 2);
  });

  test('are refused when too many wait', async () => {
    await using at = await lab({ settings: settings({ maxConcurrent: 1, maxWaiting: 1 }) });
    const state = gate(at);
    const asked = Promise.all([at.ask(), at.ask()]);
    await assert.rejects(at.ask(), failedBecause('busy', /2 checkpoints are under way.*/));
    state.letGo.resolve();
    await asked;
    await at.ask();
  });
});

describe('close', () => {
  test('is what a request tells that the stopping server has ended before', async () => {
    await using at = await lab();
    const begun = Promise.withResolvers<void>();
    at.runtime.write = endless(begun.resolve);
    const stop = new AbortController();
    const names = { namespace: 'shop', pod: 'web', container: 'main', requester: 'alice' };
    const asked = at.checkpointer.checkpoint({ ...names, cancel: stop.signal, stopping: stop.signal });
    const outcome = assert.rejects(asked, failedBecause('stopping', /the agent is being stopped/));
    await begun.promise;
    stop.abort();
    await outcome;
  });

  test('gives up what is under way and refuses what comes', async () => {
    await using at = await lab();
    const begun = Promise.withResolvers<void>();
    at.runtime.write = endless(begun.resolve);
    const asked = at.ask();
    const outcome = assert.rejects(asked, failedBecause('stopping', /the agent is being stopped/));
    await begun.promise;
    await at.checkpointer[Symbol.asyncDispose]();
    await outcome;
    assert.deepEqual(await at.left(), []);
    await assert.rejects(at.ask(), failedBecause('stopping', /.*/));
    await at.checkpointer[Symbol.asyncDispose]();
  });

  test('does not wait for ever; the journal then stays for the next start', async () => {
    await using at = await lab({ closeMs: 50 });
    const hanging = Promise.withResolvers<void>();
    at.runtime.write = () => hanging.promise;
    const asked = at.ask();
    await waitFor('the dump to begin', () => at.runtime.files.length === 1);
    await at.checkpointer[Symbol.asyncDispose]();
    const [draft] = await at.left();
    assert.match(await readFile(join(at.folder, draft ?? '', 'journal.json'), 'utf8'), /"id":"c1"/);
    hanging.reject(new RuntimeError('stillFrozen', 'given up'));
    await assert.rejects(asked, { reason: 'stillFrozen' });
  });
});
