import assert from 'node:assert/strict';
import { chmod, mkdir, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { watchFolder } from '../../../../src/base/folder-watch/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { follow } from './support.ts';

describe('a folder that is followed', () => {
  test('is told with all that is in it, then by what changes', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'one'), '1');
    await using followed = await follow({ folder: folder.path });
    assert.deepEqual(
      followed.diffs[0]?.added.map(({ path, kind, size }) => [path, kind, size]),
      [['one', 'file', 1]],
    );
    await writeFile(join(folder.path, 'two'), '2');
    await waitFor('the new file', () => followed.paths().includes('two'));
    assert.equal(followed.watch.view?.by, 'events');
    await unlink(join(folder.path, 'one'));
    await waitFor('the end of the other', () => !followed.paths().includes('one'));
    const removed = followed.diffs.flatMap((diff) => diff.removed);
    assert.deepEqual(
      removed.map(({ path }) => path),
      ['one'],
    );
  });

  test('need not be there: it is followed once it is made, through its end and its return', async () => {
    await using parent = await temporaryFolder();
    const folder = join(parent.path, 'later');
    await using followed = await follow({ folder });
    assert.match(
      followed.watch.view?.problem ?? '',
      /later is missing; it is looked at as soon as it is made$/,
    );
    for (const name of ['first', 'second']) {
      await mkdir(folder);
      await writeFile(join(folder, name), name);
      await waitFor(`${name} in it`, () => followed.paths().join() === name);
      await waitFor('events', () => followed.watch.view?.by === 'events');
      assert.equal(followed.watch.view?.problem, undefined);
      await rm(folder, { recursive: true });
      await waitFor('its end', () => followed.watch.view?.problem !== undefined);
      assert.deepEqual(followed.paths(), []);
    }
  });

  test('that is missing with its parents is noticed without polling, whichever of them comes, goes and comes back', async () => {
    await using root = await temporaryFolder();
    const above = join(root.path, 'a');
    const folder = join(above, 'b/c');
    await using followed = await follow({ folder, pollMs: 3_600_000 });
    for (const name of ['first', 'second']) {
      await mkdir(above);
      await writeFile(join(root.path, `other-${name}`), ''); // of no interest
      await mkdir(join(above, 'b'));
      await mkdir(folder);
      await writeFile(join(folder, name), name);
      await waitFor(`${name} in it`, () => followed.paths().join() === name);
      await rm(above, { recursive: true });
      await waitFor('its end', () => followed.watch.view?.isMissing === true);
    }
  });

  test('is entered as deep as is asked for, and only where it is of interest', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'a/b/c'), { recursive: true });
    await mkdir(join(folder.path, '.hidden'));
    for (const name of ['.hidden/no', 'a/yes', 'a/b/yes', 'a/b/c/too-deep'])
      await writeFile(join(folder.path, name), '');
    await using followed = await follow({
      folder: folder.path,
      depth: 2,
      select: (path) => !path.split('/').some((name) => name.startsWith('.')),
    });
    assert.deepEqual(followed.paths(), ['a', 'a/b', 'a/b/c', 'a/b/yes', 'a/yes']);
  });

  test('a link that is swapped changes what it leads to; a link to a folder is not entered', async () => {
    await using folder = await temporaryFolder();
    const at = (name: string) => join(folder.path, name);
    await mkdir(at('..v1'));
    await mkdir(at('..v2'));
    for (const version of ['..v1', '..v2']) await writeFile(at(`${version}/profile`), version);
    await symlink('..v1', at('..data'));
    await symlink('..data/profile', at('profile'));
    await using followed = await follow({ folder: folder.path, depth: 1 });
    const before = followed.watch.view?.entries.get('profile');
    assert.equal(before?.link, true);
    assert.ok(!followed.paths().includes('..data/profile'));
    await symlink('..v2', at('..data.next'));
    await rename(at('..data.next'), at('..data'));
    await waitFor('the other target', () => {
      const now = followed.watch.view?.entries.get('profile')?.identity;
      return now !== undefined && now !== before?.identity;
    });
  });

  test('permissions make no other socket of one; another socket in its place does', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'plugin.sock');
    const listening = await listen(path);
    await using followed = await follow({ folder: folder.path });
    const first = followed.watch.view?.entries.get('plugin.sock');
    assert.equal(first?.kind, 'socket');
    await chmod(path, 0o600);
    await waitFor('the mode', () => followed.watch.view?.entries.get('plugin.sock')?.mode === 0o600);
    assert.equal(followed.watch.view?.entries.get('plugin.sock')?.identity, first?.identity);
    await listening.close();
    const next = await listen(path);
    await waitFor('another socket', () => {
      const now = followed.watch.view?.entries.get('plugin.sock');
      return now !== undefined && now.identity !== first?.identity;
    });
    await next.close();
  });

  test('a FIFO is seen and never opened', async () => {
    await using folder = await temporaryFolder();
    // to open even one of them would hold up a thread of four
    for (let each = 0; each < 6; each += 1)
      await runSuccessfully('mkfifo', [join(folder.path, `fifo${each}`)]);
    await using followed = await follow({ folder: folder.path });
    await writeFile(join(folder.path, 'file'), 'x');
    await waitFor('the file', () => followed.paths().includes('file'));
    assert.equal(followed.watch.view?.entries.get('fifo0')?.kind, 'other');
  });

  test('what it holds too much of is told, and what was there before stays', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'zz-first'), '');
    await using followed = await follow({ folder: folder.path, maxEntries: 5 });
    for (let each = 0; each < 80; each += 1) await writeFile(join(folder.path, `flood${each}`), '');
    await waitFor('the complaint', () =>
      /holds more than 5 entries, of which 5/.test(followed.watch.view?.problem ?? ''),
    );
    await waitFor('rest', () => followed.watch.view?.by === 'polling');
    const view = await followed.watch.rescan();
    assert.equal(view.entries.size, 5);
    assert.ok(view.entries.has('zz-first'));
    for (let each = 0; each < 80; each += 1) await unlink(join(folder.path, `flood${each}`));
    await waitFor(
      'order',
      () => followed.watch.view?.problem === undefined && followed.paths().join() === 'zz-first',
    );
    await waitFor('events again', () => followed.watch.view?.by === 'events');
  });

  test('what cannot be read is told with owner and mode, and what was known of it stays', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'sub'));
    await writeFile(join(folder.path, 'sub/kept'), '');
    const watch = watchFolder({
      folder: folder.path,
      depth: 1,
      log: silentLogger(),
      clock: systemClock,
      fileSystem: await deniedFrom(join(folder.path, 'sub'), 1),
    });
    assert.deepEqual([...(await watch.rescan()).entries.keys()], ['sub', 'sub/kept']);
    const view = await watch.rescan();
    assert.deepEqual([...view.entries.keys()], ['sub', 'sub/kept']);
    assert.match(
      view.problem ?? '',
      /sub cannot be read: it belongs to user \d+ with mode 0\d{3}, and this process/,
    );
  });

  test('a file in its place is told', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'file'), '');
    await using followed = await follow({ folder: join(folder.path, 'file') });
    assert.match(followed.watch.view?.problem ?? '', /is not a folder; put a folder in its place/);
  });

  test('a listener that fails harms no other', async () => {
    await using folder = await temporaryFolder();
    await using followed = await follow({ folder: folder.path });
    followed.watch.onChange(() => {
      throw new Error('not my day');
    });
    const heard: string[] = [];
    followed.watch.onChange((diff) => void heard.push(...diff.added.map(({ path }) => path)));
    await writeFile(join(folder.path, 'a'), '');
    await waitFor('the second listener', () => heard.includes('a'));
    assert.match(followed.lines.join(''), /not my day/);
  });
});

describe('scans', () => {
  test('never run beside each other, and who asks meanwhile shares the next', async () => {
    await using folder = await temporaryFolder();
    let running = 0;
    let most = 0;
    let scans = 0;
    const { folderReader } = await import('../../../../src/base/folder-watch/reader.ts');
    const watch = watchFolder({
      folder: folder.path,
      log: silentLogger(),
      clock: systemClock,
      fileSystem: {
        ...folderReader,
        async names(path, limit) {
          scans += 1;
          running += 1;
          most = Math.max(most, running);
          const found = await folderReader.names(path, limit);
          running -= 1;
          return found;
        },
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => watch.rescan()));
    assert.equal(most, 1);
    assert.ok(scans <= 2, `${scans} scans`);
  });

  test('come now and then also where nothing is heard', async () => {
    await using folder = await temporaryFolder();
    const clock = createManualClock();
    const deaf = { listen: async () => ({ [Symbol.asyncDispose]: async () => undefined }) };
    await using followed = await follow({ folder: folder.path, clock, rescanMs: 10_000, hints: deaf });
    await writeFile(join(folder.path, 'silent'), '');
    await waitFor('a scan by time', async () => {
      await clock.advance(10_000);
      return followed.paths().includes('silent');
    });
  });

  test('what happens between a look and the first hint is not missed', async () => {
    await using folder = await temporaryFolder();
    const late = {
      async listen() {
        await writeFile(join(folder.path, 'between'), '');
        return { [Symbol.asyncDispose]: async () => undefined };
      },
    };
    await using followed = await follow({ folder: folder.path, hints: late });
    await waitFor('the file', () => followed.paths().includes('between'));
  });

  test('a look that somebody asks for meanwhile is not forgotten again', async () => {
    await using folder = await temporaryFolder();
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const slow = {
      async listen() {
        asked.resolve();
        await gate.promise;
        return { [Symbol.asyncDispose]: async () => undefined };
      },
    };
    const watch = watchFolder({
      ...{ folder: folder.path, rescanMs: 3_600_000, settleMs: 10, hints: slow },
      ...{ log: silentLogger(), clock: systemClock },
    });
    const removed: string[] = [];
    watch.onChange((diff) => void removed.push(...diff.removed.map(({ path }) => path)));
    const stop = new AbortController();
    const started = Promise.withResolvers<void>();
    const running = watch.run(stop.signal, started.resolve);
    await asked.promise;
    await writeFile(join(folder.path, 'asked-for'), '');
    assert.ok((await watch.rescan()).entries.has('asked-for'));
    gate.resolve();
    await started.promise;
    stop.abort();
    await running;
    assert.deepEqual(removed, []);
  });

  test('a file that has changed just now is looked at again: another change could leave the same times', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'file');
    await writeFile(path, 'one');
    let nowMs = (await stat(path)).ctimeMs + 1;
    const clock = { ...systemClock, now: () => nowMs };
    const deaf = { listen: async () => ({ [Symbol.asyncDispose]: async () => undefined }) };
    await using followed = await follow({ folder: folder.path, clock, hints: deaf });
    const first = followed.watch.view?.entries.get('file')?.identity;
    nowMs += 1000;
    await waitFor('a second look', () => followed.diffs.some(({ changed }) => changed[0]?.path === 'file'));
    assert.notEqual(followed.watch.view?.entries.get('file')?.identity, first);
  });

  test('that take long are far between, however much is heard', async () => {
    await using folder = await temporaryFolder();
    const { folderReader } = await import('../../../../src/base/folder-watch/reader.ts');
    let spentMs = 0;
    const waits: number[] = [];
    const clock = {
      ...systemClock,
      monotonicMs: () => spentMs,
      sleep(ms: number, signal?: AbortSignal) {
        waits.push(ms);
        return systemClock.sleep(1, signal);
      },
    };
    const fileSystem = {
      ...folderReader,
      names(path: string, limit: number) {
        spentMs += 400;
        return folderReader.names(path, limit);
      },
    };
    const loud = {
      async listen(_folder: string, { changed }: { changed(): void }) {
        const ringing = setInterval(changed, 1);
        return { [Symbol.asyncDispose]: async () => clearInterval(ringing) };
      },
    };
    await using _followed = await follow({ folder: folder.path, clock, fileSystem, hints: loud });
    await waitFor('a rest', () => waits.includes(9 * 400));
  });

  test('a file system that hangs holds up no stop', async () => {
    await using folder = await temporaryFolder();
    const { folderReader } = await import('../../../../src/base/folder-watch/reader.ts');
    const names = () => new Promise<never>(() => undefined);
    const watch = watchFolder({
      folder: folder.path,
      log: silentLogger(),
      clock: systemClock,
      fileSystem: { ...folderReader, names },
    });
    const stop = new AbortController();
    const running = watch.run(stop.signal, () => assert.fail('it has seen nothing'));
    stop.abort();
    await running;
  });
});

async function listen(path: string): Promise<{ close(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return { close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** The test may run as root, whom no mode denies anything. */
async function deniedFrom(folder: string, after: number) {
  const { folderReader } = await import('../../../../src/base/folder-watch/reader.ts');
  let asked = 0;
  return {
    ...folderReader,
    async names(path: string, limit: number) {
      if (path === folder && asked++ >= after)
        throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
      return await folderReader.names(path, limit);
    },
  };
}
