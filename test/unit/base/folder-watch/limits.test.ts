import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { HintListener, HintSource } from '../../../../src/base/folder-watch/index.ts';
import { runCommand, startProcess, temporaryFolder, waitFor } from '../../../support/index.ts';
import { follow } from './support.ts';

const child = new URL('./limits-child.ts', import.meta.url).pathname;

describe('limits of inotify', () => {
  for (const code of ['ENOSPC', 'EMFILE']) {
    test(`${code}: the folder is polled, that is told once, and events are tried again`, async () => {
      await using folder = await temporaryFolder();
      let isFull = true;
      let tries = 0;
      const hints = source(() => {
        tries += 1;
        if (isFull) throw Object.assign(new Error(`${code}: no room`), { code });
      });
      await using followed = await follow({ folder: folder.path, hints, retryMs: 50 });
      assert.equal(followed.watch.view?.by, 'polling');
      await writeFile(join(folder.path, 'found'), '');
      await waitFor('a poll', () => followed.paths().includes('found'));
      await waitFor('more tries', () => tries > 3);
      const told = followed.lines.filter((line) => /limit of inotify is reached/.test(line));
      assert.equal(told.length, 1, told.join(''));
      assert.match(told[0] ?? '', /raise fs\.inotify\.max_user_watches and fs\.inotify\.max_user_instances/);
      isFull = false;
      await waitFor('events', () => followed.watch.view?.by === 'events');
      assert.match(followed.lines.join(''), /told by the kernel again/);
    });
  }

  test('a limit that is reached by a later folder gives back all that was held', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'sub'));
    let open = 0;
    const hints: HintSource = {
      async listen(path) {
        if (path.endsWith('sub')) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
        open += 1;
        return {
          async [Symbol.asyncDispose]() {
            open -= 1;
          },
        };
      },
    };
    await using followed = await follow({ folder: folder.path, depth: 1, hints });
    assert.equal(followed.watch.view?.by, 'polling');
    assert.equal(open, 0);
  });

  test('who says that nothing more will be heard is listened to anew', async () => {
    await using folder = await temporaryFolder();
    const heard: HintListener[] = [];
    await using followed = await follow({ folder: folder.path, hints: source((each) => heard.push(each)) });
    assert.equal(heard.length, 1);
    heard[0]?.lost(new Error('the kernel is tired'));
    await waitFor('another one', () => heard.length === 2);
    await writeFile(join(folder.path, 'a'), '');
    heard[1]?.changed();
    await waitFor('the file', () => followed.paths().includes('a'));
  });

  for (const [name, most, code] of [
    ['watches', 2, 'ENOSPC'],
    ['instances', 0, 'EMFILE'],
  ] as const)
    test(`of a real kernel: ${name} run out, and come back`, (t) => ofRealKernel(t, name, most, code));
});

async function ofRealKernel(t: TestContext, name: string, most: number, code: string): Promise<void> {
  const inside = ['--user', '--map-root-user', '--', 'sh', '-c'];
  const limit = `echo ${most} > /proc/sys/user/max_inotify_${name}`; // it counts in this namespace only
  const possible = await runCommand('unshare', [...inside, limit]);
  if (possible.code !== 0) return t.skip(`user namespaces cannot be made here: ${possible.stderr.trim()}`);
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, 'a/b'), { recursive: true });
  const script = `${limit} && exec "$0" "$@"`;
  await using process_ = await startProcess('unshare', [
    ...inside,
    script,
    process.execPath,
    child,
    folder.path,
  ]);
  await process_.waitForOutput(/^polling a,a\/b$/m);
  await writeFile(join(folder.path, 'a/b/deep'), '');
  await process_.waitForOutput(/^polling a,a\/b,a\/b\/deep$/m);
  const told = process_.stderr.split('\n').filter((line) => /limit of inotify is reached/.test(line));
  assert.equal(told.length, 1, process_.stderr);
  assert.match(told[0] ?? '', new RegExp(code));
  await writeFile(join(folder.path, 'raise'), '');
  await process_.waitForOutput(/^events a,a\/b,a\/b\/deep,raise$/m);
  await writeFile(join(folder.path, 'a/b/last'), '');
  await process_.waitForOutput(/^events a,a\/b,a\/b\/deep,a\/b\/last,raise$/m);
}

function source(onListen: (heard: HintListener) => void): HintSource {
  return {
    async listen(_folder, heard) {
      onListen(heard);
      return { [Symbol.asyncDispose]: async () => undefined };
    },
  };
}
