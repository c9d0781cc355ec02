import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { PodTokens } from '../../../../src/agent/tokens/index.ts';
import type { DriverAbility } from '../../../../src/agent/volumes/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { FakeObjects } from '../../../support/fake-objects.ts';
import { waitFor } from '../../../support/index.ts';
import { driverName, FakeStorage, keepers, podOf, volumeOf } from './storage-support.ts';
import { podWith } from './support.ts';

const open = new AbortController().signal;

const tokens: PodTokens = {
  get: async (_pod, { audience, expirationSeconds }) => ({
    token: `${audience}-${expirationSeconds}`,
    expiresMs: Date.UTC(2026, 0, 1),
    renewMs: 0,
  }),
  release: () => undefined,
};

interface Case {
  readonly claim?: Record<string, unknown>;
  readonly source?: Record<string, unknown>;
  readonly rules?: Record<string, unknown>;
  readonly can?: readonly DriverAbility[];
  readonly pod?: Pod;
}

/** What the driver is asked for. */
async function requestOf({ claim = {}, source = {}, rules, can = [], pod = podOf('a') }: Case) {
  const storage = new FakeStorage();
  storage.bind('a', claim, source);
  if (rules !== undefined) storage.csiDriver(rules);
  const objects = new FakeObjects();
  objects.setSecret('stage', { key: 'one' });
  objects.setSecret('publish', { key: 'two' });
  for (const ability of can) storage.driver.can.add(ability);
  await using made = await keepers(storage, { tokens, objects });
  const { claimed, inline } = made.start();
  await (pod.spec?.volumes?.[0]?.csi === undefined ? claimed : inline).setUp(volumeOf(pod), open);
  const [[published], [staged]] = [storage.driver.requests, storage.driver.staged];
  assert.ok(published);
  return { published, staged, announced: storage.announced };
}

describe('what a driver is asked for', () => {
  const modes: [mode: string, usual: number, exact: number][] = [
    ['ReadWriteOnce', 1, 7],
    ['ReadOnlyMany', 3, 3],
    ['ReadWriteMany', 5, 5],
    ['ReadWriteOncePod', 1, 6],
  ];
  for (const [mode, usual, exact] of modes)
    test(`has the number of ${mode}`, async () => {
      const claim = { accessModes: [mode] };
      assert.equal((await requestOf({ claim })).published.capability.accessMode, usual);
      const can = ['several-writers'] as const;
      assert.equal((await requestOf({ claim, can })).published.capability.accessMode, exact);
    });

  test('has options, attributes and the secrets of each step', async () => {
    const { published, staged } = await requestOf({
      claim: { mountOptions: ['noatime'] },
      source: {
        volumeAttributes: { pool: 'p' },
        nodeStageSecretRef: { namespace: 'n', name: 'stage' },
        nodePublishSecretRef: { namespace: 'n', name: 'publish' },
      },
    });
    assert.deepEqual(published.capability.mount, { fsType: 'ext4', flags: ['noatime'], group: '' });
    assert.deepEqual([staged?.secrets, published.secrets], [{ key: 'one' }, { key: 'two' }]);
    assert.deepEqual([staged?.volumeContext, published.volumeContext], [{ pool: 'p' }, { pool: 'p' }]);
  });

  for (const [step, reference, what] of [
    ['MountVolume.MountDevice', 'nodeStageSecretRef', 'NodeStageSecretRef'],
    ['MountVolume.SetUp', 'nodePublishSecretRef', 'NodePublishSecretRef'],
  ] as const)
    test(`waits for a ${what} that is absent, and has it as it was when it was asked`, async () => {
      const storage = new FakeStorage();
      const objects = new FakeObjects();
      storage.bind('a', {}, { [reference]: { namespace: 'default', name: 'key' } });
      await using made = await keepers(storage, { objects });
      const { claimed } = made.start();
      const setUp = () => claimed.setUp(volumeOf(podOf('a')), open);
      const cause =
        'kubernetes.io/csi: failed to find the secret key in the namespace default with error: secrets "key" not found';
      const message = `fetching ${what} default/key failed: ${cause}`;
      await assert.rejects(setUp(), (error: Error) => {
        assert.equal(error.message, message);
        return Object(error).step === (step === 'MountVolume.SetUp' ? undefined : step);
      });
      assert.equal(storage.driver.requests.length, 0);
      objects.setSecret('key', { user: 'x' });
      await setUp();
      const asked = step === 'MountVolume.SetUp' ? storage.driver.requests : storage.driver.staged;
      assert.deepEqual(asked[0]?.secrets, { user: 'x' });
    });

  test('says that a Secret may not be read, and waits for the first answer about it', async () => {
    const storage = new FakeStorage();
    const objects = new FakeObjects();
    storage.bind('a', {}, { nodePublishSecretRef: { namespace: 'default', name: 'key' } });
    objects.putSecret('key', { state: 'waiting', message: 'the API has not told yet' });
    await using made = await keepers(storage, { objects });
    const { claimed } = made.start();
    const failed = assert.rejects(
      claimed.setUp(volumeOf(podOf('a')), open),
      /^Error: fetching NodePublishSecretRef default\/key failed: .* with error: not for this node$/,
    );
    await made.clock.advance(5000);
    objects.putSecret('key', { state: 'refused', message: 'not for this node' });
    await failed;
    objects.putSecret('key', { state: 'waiting', message: 'the API has not told yet' });
    const late = assert.rejects(claimed.setUp(volumeOf(podOf('a')), open), /the API has not told yet$/);
    await waitFor('it to wait', () => made.clock.sleepers > 0);
    await made.clock.advance(10_000);
    await late;
  });

  test('has the pod and its tokens, where the CSIDriver wants them', async () => {
    const tokenRequests = [{ audience: 'vault', expirationSeconds: 600 }, { audience: '' }];
    const rules = { podInfoOnMount: true, tokenRequests };
    const { published } = await requestOf({ rules });
    const expirationTimestamp = '2026-01-01T00:00:00Z';
    const given = JSON.stringify({
      vault: { token: 'vault-600', expirationTimestamp },
      '': { token: '-3600', expirationTimestamp },
    });
    assert.deepEqual(published.volumeContext, {
      'csi.storage.k8s.io/pod.name': 'web',
      'csi.storage.k8s.io/pod.namespace': 'default',
      'csi.storage.k8s.io/pod.uid': 'u1',
      'csi.storage.k8s.io/serviceAccount.name': 'app',
      'csi.storage.k8s.io/ephemeral': 'false',
      'csi.storage.k8s.io/serviceAccount.tokens': given,
    });
    const hidden = await requestOf({ rules: { tokenRequests, serviceAccountTokenInSecrets: true } });
    assert.deepEqual(hidden.published.volumeContext, {});
    assert.deepEqual(hidden.published.secrets, { 'csi.storage.k8s.io/serviceAccount.tokens': given });
  });

  test('is read-only where the claim of the pod is', async () => {
    const pod = podWith([{ name: 'data', persistentVolumeClaim: { claimName: 'a', readOnly: true } }]);
    assert.equal((await requestOf({ pod })).published.isReadOnly, true);
  });

  test('without attachment is neither announced nor waits for one', async () => {
    const storage = new FakeStorage();
    storage.bind('a');
    for (const key of storage.objects.keys()) if (key.startsWith('volumeatt')) storage.objects.delete(key);
    storage.csiDriver({ attachRequired: false });
    await using made = await keepers(storage);
    await made.start().claimed.setUp(volumeOf(podOf('a')), open);
    assert.deepEqual(storage.announced, []);
    assert.deepEqual(storage.driver.requests[0]?.publishContext, {});
  });

  test('goes by the CSIDriver as it is when it is tried again', async () => {
    const storage = new FakeStorage();
    storage.bind('a');
    for (const key of storage.objects.keys()) if (key.startsWith('volumeatt')) storage.objects.delete(key);
    await using made = await keepers(storage);
    const { claimed } = made.start();
    await assert.rejects(claimed.setUp(volumeOf(podOf('a')), open), /there is no VolumeAttachment/);
    storage.csiDriver({ attachRequired: false });
    await claimed.setUp(volumeOf(podOf('a')), open);
  });

  test('for a pod alone is a volume of its own, if the driver makes such', async () => {
    const pod = podWith([
      { name: 'v', csi: { driver: driverName, readOnly: true, nodePublishSecretRef: { name: 'publish' } } },
    ]);
    const rules = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true };
    const { published, staged } = await requestOf({ pod, rules });
    assert.match(published.volumeId, /^csi-[0-9a-f]{64}$/);
    assert.equal(published.volumeContext['csi.storage.k8s.io/ephemeral'], 'true');
    assert.deepEqual([staged, published.stagingPath, published.secrets], [undefined, '', { key: 'two' }]);
    const refused =
      'kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver';
    await assert.rejects(requestOf({ pod }), { message: `${refused} ${driverName} (no CSIDriver object)` });
    await assert.rejects(requestOf({ pod, rules: {} }), {
      message: `${refused} ${driverName} (only supports ["Persistent"])`,
    });
  });
});

describe('the group of a pod', () => {
  const grouped = podOf('a', 'u1', { securityContext: { fsGroup: 4242 } });
  async function groupAfter(more: Case) {
    const storage = new FakeStorage();
    storage.bind('a', more.claim, more.source);
    if (more.rules !== undefined) storage.csiDriver(more.rules);
    for (const ability of more.can ?? []) storage.driver.can.add(ability);
    await using made = await keepers(storage);
    await made.start().claimed.setUp(volumeOf(more.pod ?? grouped), open);
    const { gid } = await stat(join(made.rootDir, 'pods/u1/volumes/kubernetes.io~csi/pv-a/mount'));
    return [gid === 4242, storage.driver.requests[0]?.capability.mount?.group];
  }

  const cases: [what: string, given: Case, isOurs: boolean, group: string][] = [
    ['of a volume for one node is given', {}, true, ''],
    ['of a volume for several nodes is not', { claim: { accessModes: ['ReadWriteMany'] } }, false, ''],
    ['without a type of file system is not', { source: { fsType: '' } }, false, ''],
    [
      'is given with the policy File',
      { claim: { accessModes: ['ReadWriteMany'] }, rules: { fsGroupPolicy: 'File' } },
      true,
      '',
    ],
    ['is not given with the policy None', { rules: { fsGroupPolicy: 'None' } }, false, ''],
    ['is left to a driver that mounts for groups', { can: ['mount-group'] }, false, '4242'],
  ];
  for (const [what, given, isOurs, group] of cases)
    test(`${what}`, { skip: process.geteuid?.() !== 0 && 'needs root' }, async () =>
      assert.deepEqual(await groupAfter(given), [isOurs, group]),
    );
});

describe('a volume for one pod', () => {
  test('waits until the other pod has ended', async () => {
    const storage = new FakeStorage();
    storage.bind('a', { accessModes: ['ReadWriteOncePod'] });
    await using made = await keepers(storage);
    const { claimed, csi } = made.start();
    const setUp = (uid: string) => claimed.setUp(volumeOf(podOf('a', uid)), open);
    await setUp('u1');
    const message = 'volume uses the ReadWriteOncePod access mode and is already in use by another pod';
    await assert.rejects(setUp('u2'), { message, maxWaitMs: 2000 });
    assert.equal(storage.driver.requests.length, 1);
    await csi.unpublishAll('u1', open);
    await setUp('u2');
  });
});

describe('a driver that wants to publish again', () => {
  test('is asked once in a minute, with new tokens; a failure is reported once, and the volume stays', async () => {
    const storage = new FakeStorage();
    storage.bind('a');
    storage.csiDriver({ requiresRepublish: true });
    await using made = await keepers(storage);
    const { claimed, csi } = made.start();
    await claimed.setUp(volumeOf(podOf('a')), open);
    const { driver } = storage;
    const after = async (ms: number, calls: number) =>
      await waitFor(`${calls} calls`, async () => {
        if (driver.requests.length < calls) await made.clock.advance(ms / 10);
        return driver.requests.length === calls;
      });
    await after(60_000, 2);
    assert.deepEqual(driver.requests[1], driver.requests[0]);
    driver.answers.set('publish', ['refused', 'uncertain']);
    await after(60_000, 3);
    await waitFor('the report', () => made.events.length === 1);
    await after(15_000, 4);
    await after(15_000, 5);
    assert.deepEqual(made.events, ['FailedMount', 'FailedMount']);
    assert.equal(driver.calls.filter((call) => call.startsWith('stage')).length, 1);
    csi.forget('u1');
    await made.clock.advance(600_000);
    assert.equal(driver.requests.length, 5);
  });
});
