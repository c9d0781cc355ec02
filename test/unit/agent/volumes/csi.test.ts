import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sha256 } from '../../../../src/agent/volumes/csi/paths.ts';
import { waitFor } from '../../../support/index.ts';
import { FakeDriver } from './fake-driver.ts';
import { driverName, FakeStorage, keepers, podOf, volumeOf } from './storage-support.ts';

const open = new AbortController().signal;

async function withStorage(name = 'a') {
  const storage = new FakeStorage();
  storage.bind(name);
  const made = await keepers(storage);
  const { claimed, csi } = made.start();
  const setUp = (uid = 'u1', claim = name) => claimed.setUp(volumeOf(podOf(claim, uid)), open);
  return { storage, made, claimed, csi, setUp, driver: storage.driver };
}

const folderOf = (root: string, uid = 'u1', name = 'pv-a') =>
  join(root, 'pods', uid, 'volumes/kubernetes.io~csi', name);
const stageOf = (root: string, handle = 'handle-a') =>
  join(root, 'plugins/kubernetes.io/csi', driverName, sha256(handle));
const readData = async (folder: string) => JSON.parse(await readFile(join(folder, 'vol_data.json'), 'utf8'));
const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('a volume of a driver', () => {
  test('is announced, staged once for all its pods, published to each, and unstaged after the last', async () => {
    const { storage, made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    await setUp('u1');
    await setUp('u2');
    assert.deepEqual(driver.calls, ['stage handle-a', 'publish handle-a', 'publish handle-a']);
    assert.deepEqual(new Set(storage.announced), new Set([`kubernetes.io/csi/${driverName}^handle-a`]));
    const [request] = driver.requests;
    const target = join(folderOf(made.rootDir), 'mount');
    const stagingPath = join(stageOf(made.rootDir), 'globalmount');
    const mount = { fsType: 'ext4', flags: [], group: '' };
    assert.deepEqual(request, {
      ...{ volumeId: 'handle-a', stagingPath, targetPath: target, isReadOnly: false },
      publishContext: { device: '/dev/x' },
      capability: { accessMode: 1, mount },
      secrets: {},
      volumeContext: {},
    });
    assert.deepEqual(await readData(folderOf(made.rootDir)), {
      attachmentID: `csi-${sha256(`handle-a${driverName}node-1`)}`,
      driverName,
      nodeName: 'node-1',
      specVolID: 'pv-a',
      volumeHandle: 'handle-a',
      volumeLifecycleMode: 'Persistent',
    });

    await csi.unpublish({ uid: 'u1', name: 'pv-a', isBlock: false }, open);
    assert.ok(!(await isThere(folderOf(made.rootDir))));
    await csi.unpublish({ uid: 'u2', name: 'pv-a', isBlock: false }, open);
    await waitFor('unstaging', async () => !(await isThere(stageOf(made.rootDir))));
    assert.deepEqual(driver.calls.slice(3), [
      'unpublish handle-a u1',
      'unpublish handle-a u2',
      'unstage handle-a',
    ]);
    await waitFor(
      'the withdrawal',
      () =>
        !storage.announced.includes(`kubernetes.io/csi/${driverName}^handle-a`) ||
        storage.announced.length === 1,
    );
  });

  test('is not unstaged while another pod is about to have it', async () => {
    const { made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    await setUp('u1');
    const unpublishing = csi.unpublish({ uid: 'u1', name: 'pv-a', isBlock: false }, open);
    await Promise.all([unpublishing, setUp('u2')]);
    await csi.sweep();
    await waitFor('the release', () => csi.left().length === 0);
    assert.ok(await isThere(join(folderOf(made.rootDir, 'u2'), 'mount')));
    const [unstaged, published] = ['unstage handle-a', 'publish handle-a'].map((call) =>
      driver.calls.lastIndexOf(call),
    );
    assert.ok((unstaged ?? 0) < (published ?? 0), driver.calls.join(', '));
  });

  const failures = [
    { answer: 'refused', note: 'prepared', ends: [] },
    { answer: 'uncertain', note: 'asked', ends: ['unpublish handle-a u1'] },
  ] as const;
  for (const { answer, note, ends } of failures)
    test(`that is ${answer} when it is published is taken back as ${note}, and unstaged`, async () => {
      const { made, csi, setUp, driver } = await withStorage();
      await using _made = made;
      driver.answers.set('publish', [answer]);
      await assert.rejects(setUp(), {
        message: /^rpc error: code = (Internal desc = no|Unavailable desc = .*)$/,
      });
      assert.equal((await readData(folderOf(made.rootDir)))['nodeward.io/progress'], note);
      assert.deepEqual(await csi.unpublishAll('u1', open), []);
      await waitFor('unstaging', async () => !(await isThere(stageOf(made.rootDir))));
      assert.deepEqual(driver.calls, ['stage handle-a', 'publish handle-a', ...ends, 'unstage handle-a']);
    });

  test('stays to be unpublished when an uncertain try is followed by one that does not reach the driver', async () => {
    const { storage, made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    driver.answers.set('publish', ['uncertain']);
    await assert.rejects(setUp());
    storage.objects.clear();
    await assert.rejects(setUp());
    await csi.unpublishAll('u1', open);
    assert.ok(driver.calls.includes('unpublish handle-a u1'));
  });

  test('whose staging fails for good leaves nothing, and one that is uncertain is unstaged', async () => {
    const { made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    driver.answers.set('stage', ['refused', 'uncertain']);
    await assert.rejects(setUp(), { step: 'MountVolume.MountDevice' });
    assert.ok(!(await isThere(stageOf(made.rootDir))));
    await assert.rejects(setUp());
    assert.ok(await isThere(stageOf(made.rootDir)));
    await csi.unpublishAll('u1', open);
    await waitFor('unstaging', async () => !(await isThere(stageOf(made.rootDir))));
    assert.deepEqual(driver.calls, ['stage handle-a', 'stage handle-a', 'unstage handle-a']);
  });

  test('whose driver hangs is given up with the pod, and then unpublished', async () => {
    const { made, claimed, csi, driver } = await withStorage();
    await using _made = made;
    driver.answers.set('publish', ['hangs']);
    const stop = new AbortController();
    const setUp = claimed.setUp(volumeOf(podOf('a')), stop.signal);
    await waitFor('the call', () => driver.calls.length === 2);
    stop.abort();
    await assert.rejects(setUp, /Canceled/);
    await csi.unpublishAll('u1', open);
    assert.ok(driver.calls.includes('unpublish handle-a u1'));
  });

  test('that its driver does not unpublish stays, with its data, and is tried again', async () => {
    const { made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    await setUp();
    await writeFile(join(folderOf(made.rootDir), 'mount', 'precious'), 'data');
    driver.answers.set('unpublish', ['refused']);
    assert.deepEqual(await csi.unpublishAll('u1', open), [
      'UnmountVolume.TearDown failed for volume "pv-a" : rpc error: code = Internal desc = no',
    ]);
    assert.equal(await readFile(join(folderOf(made.rootDir), 'mount', 'precious'), 'utf8'), 'data');
    assert.deepEqual(await csi.unpublishAll('u1', open), []);
  });

  test('whose driver is gone is told as the reference tells it, and unpublished once that is back', async () => {
    const { storage, made, csi, setUp } = await withStorage();
    await using _made = made;
    await setUp();
    storage.drivers.deregister(driverName);
    const notFound = `driver name ${driverName} not found in the list of registered CSI drivers`;
    assert.deepEqual(await csi.unpublishAll('u1', open), [
      `UnmountVolume.TearDown failed for volume "pv-a" : kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: ${notFound}`,
    ]);
    storage.bind('b');
    await assert.rejects(setUp('u2', 'b'), {
      step: 'MountVolume.MountDevice',
      message: `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${notFound}`,
    });
    const again = storage.drivers.register(driverName);
    assert.deepEqual(await csi.unpublishAll('u1', open), []);
    await waitFor('unstaging', () => again.calls.includes('unstage handle-a'));
  });

  test('that cannot be unstaged is told, and unstaged when its driver registers again', async () => {
    const { storage, made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    await setUp();
    driver.answers.set('unstage', ['refused']);
    await csi.unpublishAll('u1', open);
    await waitFor('the failure', () => csi.left().length === 1);
    assert.equal(csi.left()[0]?.reason, 'rpc error: code = Internal desc = no');
    storage.drivers.register(driverName, new FakeDriver());
    await waitFor('unstaging', () => csi.left().length === 0);
    assert.ok(!(await isThere(stageOf(made.rootDir))));
  });

  test('is unstaged after a start of the agent that finds it without a pod', async () => {
    const { made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    await setUp();
    driver.answers.set('unstage', ['uncertain']);
    await csi.unpublishAll('u1', open);
    await waitFor('the failure', () => csi.left().length === 1);
    const next = made.start();
    await next.csi.sweep();
    await waitFor('unstaging', async () => !(await isThere(stageOf(made.rootDir))));
    assert.equal(driver.calls.filter((call) => call.startsWith('unstage')).length, 2);
  });

  test('of a driver without stages is only published', async () => {
    const { made, csi, setUp, driver } = await withStorage();
    await using _made = made;
    driver.can.clear();
    await setUp();
    await csi.unpublishAll('u1', open);
    assert.deepEqual(driver.calls, ['publish handle-a', 'unpublish handle-a u1']);
    assert.equal(driver.requests[0]?.stagingPath, '');
  });
});
