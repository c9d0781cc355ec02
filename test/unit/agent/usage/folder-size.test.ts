import assert from 'node:assert/strict';
import { link, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { measureFolder } from '../../../../src/agent/usage/folder-size.ts';
import { FolderSizes } from '../../../../src/agent/usage/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const noMounts = new Set<string>();
const limits = { maxEntries: 1000, maxMs: 60_000 };
const measure = (path: string, mounts = noMounts, own = limits) =>
  measureFolder(path, mounts, systemClock, own);

describe('the size of a folder', () => {
  test('is that of all in it, each file once, holes not counted', async () => {
    await using folder = await temporaryFolder();
    const before = await measure(folder.path);
    await mkdir(join(folder.path, 'a'));
    await writeFile(join(folder.path, 'a', 'file'), Buffer.alloc(100_000, 1));
    await link(join(folder.path, 'a', 'file'), join(folder.path, 'again'));
    await writeFile(join(folder.path, 'hole'), '');
    await truncate(join(folder.path, 'hole'), 2 ** 40);
    const after = await measure(folder.path);
    assert.equal((after?.inodes ?? 0) - (before?.inodes ?? 0), 3);
    const grown = (after?.usedBytes ?? 0) - (before?.usedBytes ?? 0);
    assert(grown >= 100_000 && grown < 200_000, `grown by ${grown}`);
    assert.equal(after?.isComplete, true);
  });

  test('has nothing of what links lead to', async () => {
    await using folder = await temporaryFolder();
    await using elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere.path, 'large'), Buffer.alloc(1_000_000, 1));
    await symlink(elsewhere.path, join(folder.path, 'link'));
    await symlink('.', join(folder.path, 'itself'));
    const size = await measure(folder.path);
    assert((size?.usedBytes ?? 0) < 100_000);
    assert.equal(size?.inodes, 3);
    await symlink(folder.path, join(elsewhere.path, 'root'));
    assert.equal(await measure(join(elsewhere.path, 'root')), undefined);
  });

  test('has nothing of what is mounted in it, which is not touched, nor of another file system', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'mounted', 'within'), { recursive: true });
    assert.equal((await measure(folder.path, new Set([join(folder.path, 'mounted')])))?.inodes, 1);
    const proc = await measure('/', new Set(), { maxEntries: 40, maxMs: 60_000 });
    assert((proc?.inodes ?? 0) <= 41);
  });

  test('is less than the truth where there is too much, too deep, or too little time', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, ...Array.from({ length: 70 }, () => 'd')), { recursive: true });
    const deep = await measure(folder.path);
    assert.deepEqual([deep?.isComplete, deep?.inodes], [false, 66]);
    for (let index = 0; index < 20; index += 1) await writeFile(join(folder.path, `${index}`), '');
    const short = await measure(folder.path, noMounts, { maxEntries: 10, maxMs: 60_000 });
    assert.deepEqual([short?.isComplete, short?.inodes], [false, 11]);
    assert.equal((await measure(folder.path, noMounts, { maxEntries: 1000, maxMs: -1 }))?.isComplete, false);
  });

  test('has files whose names are no UTF-8', async () => {
    await using folder = await temporaryFolder();
    await mkdir(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff, 0xfe])]));
    const inner = Buffer.concat([
      Buffer.from(`${folder.path}/`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('/x'),
    ]);
    await writeFile(inner, 'x');
    assert.deepEqual((await measure(folder.path))?.inodes, 3);
  });

  test('is none where there is no folder, or no longer', async () => {
    await using folder = await temporaryFolder();
    assert.equal(await measure(join(folder.path, 'none')), undefined);
    await writeFile(join(folder.path, 'file'), '');
    assert.equal(await measure(join(folder.path, 'file')), undefined);
  });

  test('can be measured while folders in it become links to elsewhere', async () => {
    await using folder = await temporaryFolder();
    await using elsewhere = await temporaryFolder();
    await mkdir(join(elsewhere.path, 'in'));
    await writeFile(join(elsewhere.path, 'in', 'large'), Buffer.alloc(4_000_000, 1));
    const [place, spare] = [join(folder.path, 'a'), join(folder.path, 'b')];
    await mkdir(join(place, 'in'), { recursive: true });
    await symlink(elsewhere.path, spare);
    let isDone = false;
    const swapping = (async () => {
      while (!isDone) {
        await rename(place, join(folder.path, 'c'));
        await rename(spare, place);
        await rename(join(folder.path, 'c'), spare);
      }
    })();
    try {
      for (let round = 0; round < 50; round += 1)
        assert(((await measure(folder.path))?.usedBytes ?? 0) < 1_000_000, 'it went through a link');
    } finally {
      isDone = true;
      await swapping;
    }
  });
});

describe('sizes of folders', () => {
  test('are measured once for all who ask within ten seconds', async () => {
    await using folder = await temporaryFolder();
    const clock = createManualClock();
    const asked: string[] = [];
    const sizes = new FolderSizes({
      clock,
      log: silentLogger(),
      mountsBelow: (path) => {
        asked.push(path);
        return [];
      },
    });
    const [first, second] = await Promise.all([sizes.size(folder.path), sizes.size(folder.path)]);
    assert.equal(first, second);
    await writeFile(join(folder.path, 'more'), 'x');
    await clock.advance(9999);
    assert.equal((await sizes.size(folder.path))?.inodes, 1);
    assert.equal(asked.length, 1);
    await clock.advance(1);
    assert.equal((await sizes.size(folder.path))?.inodes, 2);
    assert.equal(asked.length, 2);
  });

  test('are unknown where the folder is gone', async () => {
    await using folder = await temporaryFolder();
    const clock = createManualClock();
    const sizes = new FolderSizes({ clock, log: silentLogger(), mountsBelow: () => [] });
    await sizes.size(folder.path);
    await rm(folder.path, { recursive: true });
    await clock.advance(10_000);
    assert.equal(await sizes.size(folder.path), undefined);
  });
});
