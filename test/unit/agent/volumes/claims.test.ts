import assert from 'node:assert/strict';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { StatusError } from '../../../../src/api/index.ts';
import { waitFor } from '../../../support/index.ts';
import { driverName, FakeStorage, keepers, podOf, volumeOf } from './storage-support.ts';
import { podWith } from './support.ts';

const open = new AbortController().signal;
const unprocessed = (cause: string) =>
  `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ${cause}`;

/** What a pod with the claim `a` waits for, after that change. */
async function failureAfter(change: (storage: FakeStorage) => void, pod = podOf('a')) {
  const storage = new FakeStorage();
  storage.bind('a');
  change(storage);
  await using made = await keepers(storage);
  const error: unknown = await made
    .start()
    .claimed.setUp(volumeOf(pod), open)
    .then(
      () => undefined,
      (failure: unknown) => failure,
    );
  assert.ok(error instanceof Error, 'it fails');
  assert.deepEqual(storage.driver.calls, []);
  return 'step' in error && error.step !== '' ? `${error.step}: ${error.message}` : error.message;
}

const claimWith = (storage: FakeStorage, change: object) =>
  storage.put('persistentvolumeclaims/a', {
    metadata: { name: 'a', uid: 'claim-a' },
    spec: { volumeName: 'pv-a', storageClassName: 'fast' },
    status: { phase: 'Bound' },
    ...change,
  });

describe('a claim', () => {
  const cases: [what: string, change: (storage: FakeStorage) => void, message: string][] = [
    [
      'that is not there',
      (storage) => storage.objects.delete('persistentvolumeclaims/a'),
      unprocessed(
        'error processing PVC default/a: failed to fetch PVC from API server: persistentvolumeclaims "a" not found',
      ),
    ],
    [
      'that is not bound',
      (storage) => claimWith(storage, { status: { phase: 'Pending' } }),
      unprocessed(
        'error processing PVC default/a: PVC is not bound: that is done by the provisioner of its StorageClass "fast" and the volume controller of the cluster',
      ),
    ],
    [
      'whose volume is lost',
      (storage) => claimWith(storage, { status: { phase: 'Lost' } }),
      unprocessed(
        'error processing PVC default/a: PVC is not bound: its volume is lost, the PersistentVolume that it was bound to is gone',
      ),
    ],
    [
      'that is being deleted',
      (storage) => claimWith(storage, { metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      unprocessed('error processing PVC default/a: PVC is being deleted'),
    ],
    [
      'without a volume',
      (storage) => claimWith(storage, { spec: {} }),
      unprocessed('error processing PVC default/a: PVC has empty pvc.Spec.VolumeName'),
    ],
    [
      'whose volume is not there',
      (storage) => storage.objects.delete('persistentvolumes/pv-a'),
      unprocessed(
        'error processing PVC default/a: failed to get PV pv-a from API server: persistentvolumes "pv-a" not found',
      ),
    ],
    [
      'whose volume belongs to another',
      (storage) => storage.bind('a', { claimRef: { uid: 'other' } }),
      unprocessed(
        'error processing PVC default/a: found PV object pv-a but its pv.Spec.ClaimRef.UID other does not point to claim.UID claim-a',
      ),
    ],
    [
      'that the node may not read',
      (storage) => {
        storage.failure = new StatusError('Forbidden', 'no relationship found');
      },
      unprocessed(
        'error processing PVC default/a: failed to fetch PVC from API server: no relationship found',
      ),
    ],
    [
      'that is a device, and is mounted',
      (storage) => storage.bind('a', { volumeMode: 'Block' }),
      unprocessed('volume data has volumeMode Block, but is specified in volumeMounts'),
    ],
    [
      'whose volume is for other nodes',
      (storage) => {
        storage.bind('a', { nodeAffinity: { required: { nodeSelectorTerms: [{}] } } });
        storage.matches = false;
      },
      'MountVolume.NodeAffinity check: no matching NodeSelectorTerms',
    ],
    [
      'whose volume is of another kind',
      (storage) => storage.bind('a', { csi: undefined, nfs: { server: 's', path: '/' } }),
      'PersistentVolume pv-a is of a kind that this agent does not mount: it mounts csi and local',
    ],
    [
      'whose volume is not attached',
      (storage) => {
        for (const key of storage.objects.keys())
          if (key.startsWith('volumeatt')) storage.objects.delete(key);
      },
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: there is no VolumeAttachment NAME: the attach/detach controller of the cluster makes it',
    ],
    [
      'whose volume could not be attached',
      (storage) => {
        for (const [key, object] of storage.objects)
          if (key.startsWith('volumeatt'))
            storage.put(key, { ...object, status: { attached: false, attachError: { message: 'no slot' } } });
      },
      `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: VolumeAttachment NAME is not attached yet, which the external-attacher of ${driverName} does: no slot`,
    ],
  ];
  for (const [what, change, message] of cases)
    test(`${what} says so, as the reference does, and who provides it`, async () => {
      const found = await failureAfter(change);
      assert.equal(found.replace(/csi-[0-9a-f]{64}/, 'NAME'), message);
    });

  test('that was made for another pod is refused', async () => {
    const pod = podWith([{ name: 'data', ephemeral: {} }]);
    const rename = (ownerReferences: object[]) => (storage: FakeStorage) => {
      storage.put('persistentvolumeclaims/web-data', {
        metadata: { name: 'web-data', uid: 'claim-a', ownerReferences },
        spec: { volumeName: 'pv-a' },
        status: { phase: 'Bound' },
      });
    };
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' };
    const message = unprocessed(
      'PVC default/web-data was not created for pod default/web (pod is not owner)',
    );
    assert.equal(await failureAfter(rename([]), pod), message);
    assert.equal(await failureAfter(rename([{ ...owner, uid: 'older', controller: true }]), pod), message);
    assert.equal(await failureAfter(rename([owner]), pod), message);

    const storage = new FakeStorage();
    storage.bind('a');
    rename([{ ...owner, controller: true }])(storage);
    await using made = await keepers(storage);
    await made.start().claimed.setUp(volumeOf(pod), open);
    assert.deepEqual(storage.driver.calls, ['stage handle-a', 'publish handle-a']);
  });
});

describe('a device', () => {
  const devices = podWith([{ name: 'data', persistentVolumeClaim: { claimName: 'a' } }], [], {
    containers: [
      { name: 'main', image: 'app:1', volumeDevices: [{ name: 'data', devicePath: '/dev/xvda' }] },
    ],
  });

  test('of a driver is where the driver put it, behind a link, and goes with the pod', async () => {
    const storage = new FakeStorage();
    storage.bind('a', { volumeMode: 'Block' });
    await using made = await keepers(storage);
    const { claimed, csi } = made.start();
    await claimed.setUp(volumeOf(devices), open);
    const blocks = join(made.rootDir, 'plugins/kubernetes.io/csi/volumeDevices');
    const [request] = storage.driver.requests;
    assert.equal(request?.targetPath, join(blocks, 'publish/pv-a/u1'));
    assert.equal(request?.stagingPath, join(blocks, 'staging/pv-a'));
    assert.equal(request?.capability.mount, undefined);
    const link = join(made.rootDir, 'pods/u1/volumeDevices/kubernetes.io~csi/pv-a');
    assert.equal(await readlink(link), request?.targetPath);
    assert.equal(await claimed.pathOf(volumeOf(devices)), request?.targetPath);
    assert.deepEqual(await csi.unpublishAll('u1', open), []);
    assert.deepEqual(storage.driver.calls.slice(0, 3), [
      'stage handle-a',
      'publish handle-a',
      'unpublish handle-a',
    ]);
    await waitFor('the rest to go', async () => (await readdir(blocks)).sort().join() === 'publish,staging');
    for (const name of ['publish', 'staging']) assert.deepEqual(await readdir(join(blocks, name)), []);
  });

  test('that is a folder is refused, as is a folder that is a device', async () => {
    const local = { csi: undefined, local: { path: '/dev/sdz' } };
    assert.equal(
      await failureAfter((storage) => storage.bind('a', { ...local, volumeMode: 'Block' }), devices),
      '/dev/sdz is a directory, not a block device',
    );
    assert.equal(
      await failureAfter((storage) => storage.bind('a', local), devices),
      unprocessed('volume data has volumeMode Filesystem, but is specified in volumeDevices'),
    );
    assert.equal(
      await failureAfter((storage) => storage.bind('a', { ...local, local: { path: '/a/../b' } })),
      "invalid path: /a/../b must be absolute and must not contain '..'",
    );
  });
});

describe('what is read of the API', () => {
  test('is read once: a volume that is set up needs it no more', async () => {
    const storage = new FakeStorage();
    storage.bind('a');
    await using made = await keepers(storage);
    const { claimed } = made.start();
    await claimed.setUp(volumeOf(podOf('a')), open);
    const { gets } = storage;
    await claimed.setUp(volumeOf(podOf('a')), open);
    assert.equal(storage.gets, gets);
  });
});
