/** Sets in the folder of checkpoints: a reader sees all of one or nothing of it, also after a crash. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { openArchiveFolder } from '../../../../src/agent/checkpoint/index.ts';
import type { SetManifest } from '../../../../src/agent/checkpoint/pod-set/index.ts';
import { formatRecord } from '../../../../src/agent/checkpoint/record.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { tarArchive } from './archives.ts';

const time = '2025-11-21T10:03:04.005000000Z';
const set = `checkpoint-web_shop-${time}`;
const idOf = (container: string) => `checkpoint-web_shop-${container}-${time}`;

const recordOf = (container: string, sealed: boolean) => ({
  formatVersion: 1 as const,
  id: idOf(container),
  archive: `${idOf(container)}.tar${sealed ? '.age' : ''}`,
  sha256: '0'.repeat(64),
  sizeBytes: 1,
  node: 'n',
  namespace: 'shop',
  pod: 'web',
  podUid: 'u',
  container,
  containerId: 'c',
  image: '',
  imageRef: '',
  runtime: { name: 'containerd', version: '2.1.9' },
  criuVersion: '',
  startedAt: '2025-11-21T10:03:04Z',
  finishedAt: '2025-11-21T10:03:05Z',
  durationMs: 1,
  pausedMs: 1,
  pausedMeasuredBy: 'none' as const,
  requester: 'alice',
  nodewardVersion: '1',
  pinned: false,
  set,
});

async function lab(containers: readonly string[], sealed = false) {
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder());
  const folder = join(path, 'checkpoints');
  await mkdir(folder);
  const records = containers.map((container) => recordOf(container, sealed));
  const manifest: SetManifest = {
    formatVersion: 1,
    id: set,
    node: 'n',
    namespace: 'shop',
    pod: 'web',
    podUid: 'u',
    startedAt: '2025-11-21T10:03:04Z',
    frozenAt: '2025-11-21T10:03:04Z',
    releasedAt: '2025-11-21T10:03:05Z',
    finishedAt: '2025-11-21T10:03:05Z',
    requester: 'alice',
    nodewardVersion: '1',
    members: records.map(({ pinned: _pinned, ...member }) => member),
  };
  const pairs = new Map<string, { archive: string; sidecar: string }>();
  for (const record of records) {
    const archive = join(path, sealed ? `${record.container}.tar.age` : `${record.container}.tar`);
    const sidecar = join(path, `${record.container}.json`);
    await writeFile(archive, tarArchive('a', 'b'));
    await writeFile(sidecar, formatRecord(record));
    pairs.set(record.id, { archive, sidecar });
  }
  const resources = setup.move();
  const open = () => openArchiveFolder(folder, silentLogger());
  const names = async () => (await readdir(folder)).sort();
  return { folder, manifest, pairs, open, names, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

describe('a set', () => {
  test('is there as a whole, and its members one by one', async () => {
    for (const sealed of [false, true]) {
      await using at = await lab(['a', 'b'], sealed);
      const archives = at.open();
      assert.equal(await archives.publishSet(at.manifest, at.pairs), true);
      assert.deepEqual(await archives.listSets(), [at.manifest]);
      assert.deepEqual((await archives.list()).map(({ id }) => id).sort(), [idOf('a'), idOf('b')]);
      assert.deepEqual(await archives.listForeignFiles(), []);
      await using file = await archives.open(idOf('a'));
      assert.ok(file);
      assert.deepEqual(await archives.repair(), []);
      assert.equal((await at.names()).length, 5);
    }
  });

  test('of which a name is taken is not there at all, and what was there stays', async () => {
    await using at = await lab(['a', 'b']);
    await writeFile(join(at.folder, `${idOf('b')}.tar`), 'keep me');
    const archives = at.open();
    assert.equal(await archives.publishSet(at.manifest, at.pairs), false);
    assert.deepEqual(await at.names(), [`${idOf('b')}.tar`]);
    assert.equal(await readFile(join(at.folder, `${idOf('b')}.tar`), 'utf8'), 'keep me');
    await rm(join(at.folder, `${idOf('b')}.tar`));
    assert.equal(await archives.publishSet(at.manifest, at.pairs), true);
    assert.equal(await archives.publishSet(at.manifest, at.pairs), false);
    assert.deepEqual(await archives.listSets(), [at.manifest]);
  });

  test('without one of its members is no set any more; the others stay, and the manifest goes with the last', async () => {
    await using at = await lab(['a', 'b']);
    const archives = at.open();
    await archives.publishSet(at.manifest, at.pairs);
    await archives.remove(idOf('a'));
    assert.deepEqual(await archives.listSets(), []);
    assert.deepEqual(
      (await archives.list()).map(({ id }) => id),
      [idOf('b')],
    );
    await archives.repair();
    assert.equal((await at.names()).length, 3);
    await archives.remove(idOf('b'));
    assert.deepEqual(await at.names(), []);
  });

  test('of which no member is left when the process ended leaves no manifest after the next start', async () => {
    await using at = await lab(['a', 'b']);
    await at.open().publishSet(at.manifest, at.pairs);
    for (const name of await at.names()) {
      if (!name.endsWith('.set.json')) await rm(join(at.folder, name));
    }
    assert.deepEqual(await at.names(), [`${set}.set.json`]);
    await at.open().repair();
    assert.deepEqual(await at.names(), []);
  });

  test('at which the process ended in between is gone after the next start, and nothing else is', async () => {
    const containers = ['a', 'b', 'c'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 6 }), fc.boolean(), async (files, sealed) => {
        // given a set of which so many files had their names when the process was killed, and an archive of before
        await using at = await lab(containers, sealed);
        await at.open().publishSet(at.manifest, at.pairs);
        await rename(join(at.folder, `${set}.set.json`), join(at.folder, `.${set}.set.json`));
        const inOrder = containers.flatMap((name) => [
          `${idOf(name)}.json`,
          `${idOf(name)}.tar${sealed ? '.age' : ''}`,
        ]);
        for (const name of inOrder.slice(files)) await rm(join(at.folder, name));
        const old = `checkpoint-web_shop-a-2024-11-21T10:03:04.005000000Z.tar`;
        await writeFile(join(at.folder, old), tarArchive('a', 'b'));
        // then only what was complete is there
        const archives = at.open();
        await archives.repair();
        assert.deepEqual(await at.names(), [old]);
        assert.deepEqual(await archives.listSets(), []);
      }),
      { numRuns: 14 },
    );
  });

  test('that is being published is not seen in part, however often somebody looks', async () => {
    const containers = Array.from({ length: 20 }, (_, index) => `c${index}`);
    await using at = await lab(containers);
    const archives = at.open();
    let done = false;
    const counts = new Set<number>();
    const looking = (async () => {
      while (!done) counts.add((await archives.list()).length);
    })();
    await archives.publishSet(at.manifest, at.pairs);
    done = true;
    await looking;
    assert.ok(
      [...counts].every((count) => count === 0 || count === 20),
      [...counts].join(),
    );
    assert.equal((await archives.list()).length, 20);
  });

  test('whose manifest was not copied along shows its members all the same', async () => {
    await using at = await lab(['a', 'b']);
    await at.open().publishSet(at.manifest, at.pairs);
    await rm(join(at.folder, `${set}.set.json`));
    const archives = at.open();
    await archives.repair();
    assert.equal((await archives.list()).length, 2);
    assert.deepEqual(await archives.listSets(), []);
  });
});
