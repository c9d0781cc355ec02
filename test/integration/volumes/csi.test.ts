/** Volumes of a driver that is a process of its own and mounts; and an agent that is killed in between. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CsiVolumeDrivers, volumeCallMetrics } from '../../../src/agent/plugins/csi/index.ts';
import { mountsIn } from '../../../src/agent/volumes/mount-table.ts';
import type { Pod } from '../../../src/api/index.ts';
import { systemClock, writeFileAtomic } from '../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../support/index.ts';
import { driverName, FakeStorage, podOf } from '../../unit/agent/volumes/storage-support.ts';
import type { ExamplePlugin } from '../example-plugins/start.ts';
import { startPlugin } from '../example-plugins/start.ts';
import { hasOwnMounts } from './own-mounts.ts';
import { podId, untilFailed, untilReady, volumeLab } from './support.ts';

type Answers = Readonly<Record<string, 'hang' | 'unavailable' | 'kill' | 'refuse'>>;

/** A driver whose volumes are folders, and volumes that use it. */
async function driverLab(deadlineMs = 60_000) {
  await using setup = new AsyncDisposableStack();
  const home = setup.use(await temporaryFolder('csi-'));
  const [sockets, disks, answers] = ['sockets', 'disks', 'answers'].map((name) => join(home.path, name));
  assert.ok(sockets && disks && answers);
  await mkdir(sockets);
  await mkdir(disks);
  let driver: ExamplePlugin | undefined;
  const start = async () => {
    await driver?.[Symbol.asyncDispose]();
    const argv = ['--name', driverName, '--node-id', 'n', '--volumes', disks, '--answers', answers];
    driver = await startPlugin('csi', { folder: sockets, socket: 'd' }, argv);
  };
  setup.defer(async () => await driver?.[Symbol.asyncDispose]());
  await start();
  const registered = {
    ...{ name: driverName, endpoint: join(sockets, '.d.sock'), socket: join(sockets, 'd-reg.sock') },
    ...{ version: '1.9.0', nodeId: 'n', maxVolumes: undefined, topology: {} },
  };
  const quiet = { [Symbol.dispose]: () => undefined };
  const drivers = new CsiVolumeDrivers({
    drivers: { driver: () => registered, drivers: () => [registered], onChange: () => quiet },
    clock: systemClock,
    metrics: volumeCallMetrics(),
    deadlineMs,
  });
  const fake = new FakeStorage();
  fake.bind('a');
  const { nodeName, api, inUse, matchesNode } = fake;
  const lab = setup.use(await volumeLab({ storage: { nodeName, api, inUse, matchesNode, drivers } }));
  const resources = setup.move();
  return {
    ...lab,
    disks,
    fake,
    start,
    answer: (next: Answers) => writeFileAtomic(answers, JSON.stringify(next)), // it reads them at each call
    calls: () =>
      (driver?.events() ?? []).flatMap(({ event }) => (event.startsWith('Node') ? [event.slice(4, -6)] : [])),
    mounted: () => mountsIn(lab.rootDir).map(({ path }) => path.slice(lab.rootDir.length + 1)),
    target: join(lab.podFolder, 'volumes/kubernetes.io~csi/pv-a/mount'),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const pod = (spec: Partial<NonNullable<Pod['spec']>> = {}) => podOf('a', 'u1', spec);

if (hasOwnMounts(import.meta.filename)) {
  describe('a driver of volumes that is a process', () => {
    test('has its volume in the pod, in the group of that, until the pod ends', async () => {
      await using lab = await driverLab();
      await mkdir(join(lab.disks, 'handle-a'));
      await writeFile(join(lab.disks, 'handle-a', 'file'), 'kept');
      await chmod(join(lab.disks, 'handle-a', 'file'), 0o600);
      const grouped = pod({ securityContext: { fsGroup: 4242 } });
      await untilReady(lab.volumes, grouped);
      const [mount] = await lab.volumes.mountsOf(grouped, 'main');
      assert.equal(mount?.hostPath, lab.target);
      const { gid, mode } = await stat(join(lab.target, 'file'));
      assert.deepEqual([gid, mode & 0o777], [4242, 0o660]);
      assert.equal(lab.mounted().length, 2);
      await lab.volumes.release(podId);
      await waitFor('everything to be unmounted', () => lab.mounted().length === 0);
      assert.equal(await readFile(join(lab.disks, 'handle-a', 'file'), 'utf8'), 'kept');
      assert.ok(!existsSync(lab.target));
      await waitFor('unstaging', () => lab.calls().includes('Unstage'));
    });

    test('is not asked again after a start of the agent, which needs no API for what is mounted', async () => {
      await using lab = await driverLab();
      await untilReady(lab.volumes, pod());
      lab.volumes.close();
      lab.fake.failure = new Error('the API is away');
      const next = lab.restart();
      await untilReady(next, pod());
      assert.equal((await next.mountsOf(pod(), 'main'))[0]?.hostPath, lab.target);
      await waitFor('the driver to tell', () => lab.calls().length >= 2);
      assert.deepEqual(lab.calls(), ['Stage', 'Publish']);
      await next.release(podId);
      await waitFor('everything to be unmounted', () => lab.mounted().length === 0);
    });

    for (const answer of ['unavailable', 'kill'] as const)
      test(`that mounts, and then says ${answer}, is asked to unmount it by an agent that starts after it`, async () => {
        await using lab = await driverLab();
        await lab.answer({ NodePublishVolume: answer });
        const { message } = await untilFailed(lab.volumes, pod());
        assert.match(
          message,
          /^MountVolume\.SetUp failed for volume "data" : rpc error: code = Unavailable desc = /,
        );
        assert.ok(lab.mounted().some((path) => path.endsWith('/mount')));
        lab.volumes.close();
        await lab.answer({});
        if (answer === 'kill') await lab.start();
        await lab.restart().release(podId);
        await waitFor('everything to be unmounted', () => lab.mounted().length === 0);
        await waitFor('the driver to tell', () => lab.calls().includes('Unpublish'));
      });

    test('that hangs is given up at its deadline, and released with the pod', async () => {
      await using lab = await driverLab(1000);
      await lab.answer({ NodePublishVolume: 'hang' });
      const { message } = await untilFailed(lab.volumes, pod());
      const text = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded';
      assert.equal(message, `MountVolume.SetUp failed for volume "data" : ${text}`);
      await lab.volumes.release(podId);
      await waitFor('everything to be unmounted', () => lab.mounted().length === 0);
    });

    test('cannot unmount what is busy: that is said, nothing is removed, and it is tried again', async () => {
      await using lab = await driverLab();
      await untilReady(lab.volumes, pod());
      await writeFile(join(lab.target, 'file'), 'kept');
      const held = await open(join(lab.target, 'file'));
      try {
        await assert.rejects(
          lab.volumes.release(podId),
          /^Error: UnmountVolume\.TearDown failed for volume "pv-a" : rpc error: code = Internal desc = umount: .*busy/,
        );
        await assert.rejects(lab.volumes.unpublish('u1'), /busy/);
        assert.equal(await readFile(join(lab.target, 'file'), 'utf8'), 'kept');
      } finally {
        await held.close();
      }
      await lab.volumes.release(podId);
      await waitFor('everything to be unmounted', () => lab.mounted().length === 0);
      assert.equal(await readFile(join(lab.disks, 'handle-a', 'file'), 'utf8'), 'kept');
    });
  });
}
