/** File systems on devices of the node: loop devices stand for disks. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Volumes } from '../../../src/agent/volumes/index.ts';
import { mountsIn } from '../../../src/agent/volumes/mount-table.ts';
import { temporaryFolder, waitFor } from '../../support/index.ts';
import { FakeStorage, podOf } from '../../unit/agent/volumes/storage-support.ts';
import type { LoopDevice } from './loop-device.ts';
import { loopDevice } from './loop-device.ts';
import { hasOwnMounts } from './own-mounts.ts';
import { untilFailed, untilReady, volumeLab } from './support.ts';

/** Volumes with a claim `a` that is a disk. */
async function diskLab() {
  await using setup = new AsyncDisposableStack();
  const home = setup.use(await temporaryFolder('disks-'));
  const disk: LoopDevice = setup.use(await loopDevice(join(home.path, 'disk.img')));
  const storage = new FakeStorage();
  storage.bind('a', { csi: undefined, local: { path: disk.path, fsType: 'ext4' } });
  const lab = setup.use(await volumeLab({ storage }));
  const resources = setup.move();
  return {
    ...lab,
    disk,
    mounted: () => mountsIn(lab.rootDir).map(({ path }) => path.slice(lab.rootDir.length + 1)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function pathIn(volumes: Volumes, uid: string): Promise<string> {
  const [mount] = await volumes.mountsOf(podOf('a', uid), 'main');
  return join(mount?.hostPath ?? '', 'notes');
}

const release = (volumes: Volumes, uid: string) =>
  volumes.release({ uid, namespace: 'default', name: 'web' });

if (hasOwnMounts(import.meta.filename)) {
  describe('a disk of the node', () => {
    test('gets a file system once, which its pods share, and is free when the last of them is gone', async () => {
      await using lab = await diskLab();
      const shared = 'plugins/kubernetes.io/local-volume/mounts/pv-a';
      await untilReady(lab.volumes, podOf('a'));
      await writeFile(await pathIn(lab.volumes, 'u1'), 'first');
      lab.volumes.close();
      const next = lab.restart();
      await untilReady(next, podOf('a', 'u2'));
      assert.equal(await readFile(await pathIn(next, 'u2'), 'utf8'), 'first');
      assert.equal(lab.mounted().length, 3);
      await release(next, 'u1');
      await untilReady(next, podOf('a', 'u3')); // after the look whether it is still in use
      assert.ok(lab.mounted().includes(shared), String(lab.mounted()));
      await release(next, 'u2');
      await release(next, 'u3');
      await waitFor('it to be unmounted', () => lab.mounted().length === 0);
      await untilReady(next, podOf('a', 'u4'));
      assert.equal(await readFile(await pathIn(next, 'u4'), 'utf8'), 'first');
      await release(next, 'u4');
      await waitFor('it to be unmounted', () => lab.mounted().length === 0);
      await lab.disk.detached();
    });

    test('with something on it that is no file system stays as it is', async () => {
      await using lab = await diskLab();
      const before = Buffer.alloc(2 ** 20, 'x');
      await writeFile(lab.disk.file, before, { flag: 'r+' });
      const { message } = await untilFailed(lab.volumes, podOf('a'));
      assert.match(
        message,
        /^MountVolume\.MountDevice failed for volume "data" : local: failed to mount device/,
      );
      assert.match(message, /there is something on .* that is no known file system/);
      assert.ok((await readFile(lab.disk.file)).subarray(0, before.length).equals(before));
      await release(lab.volumes, 'u1');
      assert.deepEqual(lab.mounted(), []);
    });
  });
}
