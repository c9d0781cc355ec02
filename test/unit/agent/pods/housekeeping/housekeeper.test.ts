import assert from 'node:assert/strict';
import { access, mkdir, open, readdir, rename, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { HousekeeperOptions } from '../../../../../src/agent/pods/housekeeping/index.ts';
import { Housekeeper, mountsBelow } from '../../../../../src/agent/pods/housekeeping/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder, unmountBelow, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const needsRoot = process.getuid?.() === 0 ? {} : { skip: 'mounting needs root' };
const forever = new AbortController().signal;

async function start(files: readonly string[], options: Partial<HousekeeperOptions> = {}) {
  const root = await temporaryFolder();
  const [podsDir, logsDir] = [join(root.path, 'pods'), join(root.path, 'logs')];
  for (const folder of [podsDir, logsDir]) await mkdir(folder);
  for (const file of files) await write(join(root.path, file));
  const warnings: string[] = [];
  const log = {
    ...silentLogger(),
    info: () => undefined,
    warn: (message: unknown) => warnings.push(String(message)),
  };
  const known = new Set(['living']);
  const housekeeper = new Housekeeper({
    podsDir,
    logsDir,
    isKnown: (uid) => known.has(uid),
    clock: createManualClock(),
    log,
    ...options,
  });
  return {
    root: root.path,
    housekeeper,
    known,
    warnings,
    sweep: async () => (await housekeeper.sweep(forever)).map((path) => path.slice(root.path.length + 1)),
    async [Symbol.asyncDispose]() {
      await unmountBelow(root.path);
      await root[Symbol.asyncDispose]();
    },
  };
}

/** With content, but for a name that ends with a slash: a folder. */
async function write(path: string): Promise<void> {
  await mkdir(path.endsWith('/') ? path : dirname(path), { recursive: true });
  if (!path.endsWith('/')) await writeFile(path, path.includes('empty-file') ? '' : 'x');
}

describe('the mount table', () => {
  const line = (point: string) => `36 35 98:0 / ${point} rw,noatime shared:1 - ext4 /dev/root rw`;

  test('gives what is mounted below a folder, the last first', () => {
    const table = ['/', '/r/pods/a', '/r/pods/a/v\\040x', '/r/pods/ab', '/r/pods/a', '/r/pods/a/w//deleted'];
    assert.deepEqual(mountsBelow(`${table.map(line).join('\n')}\n`, '/r/pods/a'), [
      '/r/pods/a/w',
      '/r/pods/a',
      '/r/pods/a/v x',
      '/r/pods/a',
    ]);
  });
});

describe('what is left over from pods', () => {
  test('is removed: folders and logs of pods that nobody knows, nothing else', async () => {
    await using it = await start([
      'pods/gone/etc-hosts',
      'pods/gone/volumes/kubernetes.io~empty-dir/cache/deep/data',
      'pods/gone/volumes/kubernetes.io~csi/pvc/vol_data.json',
      'pods/gone/volumes/kubernetes.io~csi/pvc/mount/',
      'pods/gone/volume-subpaths/v/main/0/',
      'pods/gone/volume-subpaths/v/main/empty-file',
      'pods/living/etc-hosts',
      'pods/.hidden/file',
      'logs/default_web_gone/main/0.log',
      'logs/default_web_living/main/0.log',
      'logs/other/file',
    ]);
    assert.deepEqual(await it.sweep(), ['logs/default_web_gone', 'pods/gone']);
    assert.deepEqual((await readdir(join(it.root, 'pods'))).sort(), ['.hidden', 'living']);
    assert.deepEqual((await readdir(join(it.root, 'logs'))).sort(), ['default_web_living', 'other']);
    assert.deepEqual(await it.sweep(), []);
    assert.deepEqual(it.warnings, []);
  });

  test('is let be where no folder of the pod says that it is this agent’s', async () => {
    const groups: string[] = [];
    await using it = await start(['logs/default_web_elsewhere/main/0.log'], {
      removeGroup: async (uid) => void groups.push(uid),
    });
    assert.deepEqual(await it.sweep(), []);
    assert.deepEqual(groups, []);
    assert.equal(await it.housekeeper.claim('elsewhere'), true);
    assert.deepEqual(await it.sweep(), ['logs/default_web_elsewhere', 'pods/elsewhere']);
    assert.deepEqual(groups, ['elsewhere']);
  });

  test('loses its folder last: what is in the way of anything else keeps it', async () => {
    let failure: Error | undefined = new Error('process 7 cannot be killed');
    await using it = await start(['pods/gone/x', 'logs/a_b_gone/main/0.log'], {
      removeGroup: async () => {
        if (failure !== undefined) throw failure;
      },
    });
    assert.deepEqual(await it.sweep(), []);
    assert.equal(it.housekeeper.leftovers()[0]?.reason, 'process 7 cannot be killed');
    failure = undefined;
    const log = join(it.root, 'logs/a_b_gone');
    await rename(log, `${log}.kept`);
    await symlink(`${log}.kept`, log);
    assert.deepEqual(await it.sweep(), []);
    assert.deepEqual(await readdir(join(it.root, 'pods')), ['gone']);
    await unlink(log);
    await rename(`${log}.kept`, log);
    assert.deepEqual(await it.sweep(), ['logs/a_b_gone', 'pods/gone']);
  });

  test('a pod whose folder cannot be made is not forgotten', async () => {
    await using it = await start([]);
    await rmdir(join(it.root, 'pods'));
    await writeFile(join(it.root, 'pods'), 'no folder');
    assert.equal(await it.housekeeper.claim('gone'), false);
    assert.match(it.warnings[0] ?? '', /what is left of pod gone cannot be removed yet/);
  });

  test('is left while it is not known who is known', async () => {
    await using it = await start(['pods/gone/etc-hosts'], { isKnown: () => undefined });
    assert.deepEqual(await it.sweep(), []);
  });

  test('is removed soon after it is known who is known', async () => {
    const clock = createManualClock();
    let isKnown: boolean | undefined;
    await using it = await start(['pods/gone/x'], { clock, isKnown: () => isKnown });
    const end = new AbortController();
    const running = it.housekeeper.run(end.signal, () => undefined);
    await waitFor('a look', () => clock.sleepers > 0);
    isKnown = false;
    await clock.advance(2000);
    await waitFor('it to go', async () => (await readdir(join(it.root, 'pods'))).length === 0);
    end.abort();
    await running;
  });

  test('stays while a driver does not take its volume away, and shared volumes are given back once all pods are known', async () => {
    const given: string[] = [];
    let failure: Error | undefined = new Error('the driver is not there');
    let isComplete = false;
    await using it = await start(['pods/gone/volumes/kubernetes.io~csi/pv/vol_data.json'], {
      isKnown: () => (isComplete ? false : undefined),
      unpublish: async (uid) => {
        given.push(uid);
        if (failure !== undefined) throw failure;
      },
      releaseShared: async () => void given.push('shared'),
    });
    assert.deepEqual(await it.sweep(), []);
    assert.deepEqual(given, []);
    isComplete = true;
    assert.deepEqual(await it.sweep(), []);
    assert.equal(it.housekeeper.leftovers()[0]?.reason, 'the driver is not there');
    failure = undefined;
    assert.deepEqual(await it.sweep(), ['pods/gone']);
    assert.deepEqual(given, ['gone', 'shared', 'gone', 'shared']);
  });

  test('links are removed and not followed', async () => {
    await using it = await start(['pods/gone/file', 'precious/file']);
    await symlink(join(it.root, 'precious'), join(it.root, 'pods/gone/link'));
    await symlink(join(it.root, 'precious'), join(it.root, 'pods/linked'));
    assert.deepEqual(await it.sweep(), ['pods/gone']);
    await access(join(it.root, 'precious/file'));
    assert.equal(it.housekeeper.leftovers().length, 1);
  });

  test('data in a volume that is not of the pod alone stays, and is reported once', async () => {
    const files = [
      'volumes/kubernetes.io~csi/pvc/mount/data',
      'volumes/kubernetes.io~nfs/n/a/b/',
      'volume-subpaths/v/c/0/d',
    ];
    for (const file of files) {
      await using it = await start([`pods/gone/${file}`]);
      assert.deepEqual(await it.sweep(), []);
      assert.deepEqual(await it.sweep(), []);
      const [leftover] = it.housekeeper.leftovers();
      assert.match(leftover?.reason ?? '', /^there is data in .*\/pods\/gone\/volume/);
      assert.equal(it.warnings.length, 1);
      await access(join(it.root, 'pods/gone', file));
      it.known.add('gone');
      await it.sweep();
      assert.deepEqual(it.housekeeper.leftovers(), []);
    }
  });

  test('folders that a workload has nested without end are removed', async () => {
    await using it = await start([]);
    let path = join(it.root, 'pods/gone/volumes/kubernetes.io~empty-dir/v');
    await mkdir(path, { recursive: true });
    for (let depth = 0; depth < 150; depth += 1) {
      path = join(path, `nested-folder-${depth}`);
      await mkdir(path);
    }
    await writeFile(join(path, 'file'), 'x');
    assert.deepEqual(await it.sweep(), ['pods/gone']);
  });

  test('is unmounted first, the deepest first', needsRoot, async () => {
    await using it = await start(['pods/gone/volumes/kubernetes.io~nfs/data/']);
    const volume = join(it.root, 'pods/gone/volumes/kubernetes.io~nfs/data');
    await runSuccessfully('mount', ['-t', 'tmpfs', 'none', volume]);
    await write(join(volume, 'inner/'));
    await runSuccessfully('mount', ['-t', 'tmpfs', 'none', join(volume, 'inner')]);
    await write(join(volume, 'inner/precious'));
    await runSuccessfully('mount', ['-t', 'tmpfs', 'none', volume]);
    assert.deepEqual(await it.sweep(), ['pods/gone']);
  });

  test('a mount that is in use is not crossed; it goes once it is free', needsRoot, async () => {
    await using it = await start([
      'precious/file',
      'pods/gone/volumes/kubernetes.io~empty-dir/bound/',
      'pods/gone/z',
    ]);
    const volume = join(it.root, 'pods/gone/volumes/kubernetes.io~empty-dir/bound');
    await runSuccessfully('mount', ['--bind', join(it.root, 'precious'), volume]);
    {
      await using _user = await open(join(volume, 'file'));
      assert.deepEqual(await it.sweep(), []);
      assert.deepEqual(await it.sweep(), []);
      const [leftover] = it.housekeeper.leftovers();
      assert.match(leftover?.reason ?? '', /bound is mounted: .*busy/);
      assert.equal(it.warnings.length, 1);
      await access(join(it.root, 'pods/gone/z'));
    }
    assert.deepEqual(await it.sweep(), ['pods/gone']);
    await access(join(it.root, 'precious/file'));
  });
});
