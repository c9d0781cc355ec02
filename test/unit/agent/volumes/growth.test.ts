import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { FakeObjects } from '../../../support/fake-objects.ts';
import { waitFor } from '../../../support/index.ts';
import { FakeStorage, keepers, podOf, volumeOf } from './storage-support.ts';
import { podWith } from './support.ts';

const open = new AbortController().signal;
const gi = 2 ** 30;
const pending = { type: 'FileSystemResizePending', status: 'True' };
const foreign = { type: 'ModifyingVolume', status: 'True' };

/** A claim `a` and its volume, of a driver that can expand volumes on the node. */
async function growthLab(options: { readonly can?: boolean; readonly csi?: Record<string, unknown> } = {}) {
  const storage = new FakeStorage();
  const objects = new FakeObjects();
  storage.bind('a', {}, options.csi);
  if (options.can !== false) storage.driver.can.add('expand');
  const made = await keepers(storage, { objects });
  /** What the controllers of a cluster say. */
  const say = (volume: string, claim: string, status: Record<string, unknown> = {}) => {
    const change = (key: string, part: Record<string, unknown>) =>
      storage.put(key, { ...storage.objects.get(key), ...part });
    const spec = Object(storage.objects.get('persistentvolumes/pv-a')?.['spec']);
    change('persistentvolumes/pv-a', { spec: { ...spec, capacity: { storage: volume } } });
    change('persistentvolumeclaims/a', {
      status: { phase: 'Bound', capacity: { storage: claim }, ...status },
    });
  };
  say('1Gi', '1Gi');
  const grown = (size: string, more: Record<string, unknown> = {}) =>
    say(size, '1Gi', {
      conditions: [pending, foreign],
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      ...more,
    });
  return {
    ...{ storage, objects, made, say, grown },
    status: () => Object(storage.objects.get('persistentvolumeclaims/a')?.['status']),
    sizes: () => storage.driver.expanded.map(({ sizeBytes }) => Number(sizeBytes) / gi),
    /** Lets time pass until that many expansions were asked for. */
    async until(count: number) {
      await waitFor(`${count} expansions`, async () => {
        if (storage.driver.expanded.length < count) await made.clock.advance(5000);
        return storage.driver.expanded.length === count;
      });
      await made.clock.advance(1);
    },
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}

const setUp = async (lab: Awaited<ReturnType<typeof growthLab>>, pod: Pod = podOf('a')) => {
  const keeper = lab.made.start();
  await keeper.claimed.setUp(volumeOf(pod), open);
  return keeper;
};

const done = { phase: 'Bound', allocatedResourceStatuses: {}, conditions: [foreign] };

describe('a volume that has grown', () => {
  test('while a pod has it is expanded, which the claim and Events say; and once more', async () => {
    await using lab = await growthLab({
      csi: { nodeExpandSecretRef: { namespace: 'default', name: 'key' } },
    });
    lab.objects.setSecret('key', { k: 'v' });
    await setUp(lab);
    const { gets } = lab.storage;
    lab.grown('2Gi');
    await lab.until(1);
    const [request] = lab.storage.driver.expanded;
    assert.equal(request?.volumeId, 'handle-a');
    assert.match(request?.path ?? '', /pods\/u1\/volumes\/kubernetes\.io~csi\/pv-a\/mount$/);
    assert.match(request?.stagingPath ?? '', /globalmount$/);
    assert.deepEqual([request?.secrets, request?.capability.accessMode], [{ k: 'v' }, 1]);
    assert.equal(lab.storage.patches[0], '{"allocatedResourceStatuses":{"storage":"NodeResizeInProgress"}}');
    assert.deepEqual(lab.status(), { ...done, capacity: { storage: '2Gi' } });
    const events = ['FileSystemResizeSuccessful', 'claim FileSystemResizeSuccessful'];
    assert.deepEqual(lab.made.events, events);
    lab.say('3Gi', '2Gi');
    await lab.until(2);
    assert.deepEqual(lab.sizes(), [2, 3]);
    assert.deepEqual(lab.status().capacity, { storage: '3Gi' });
    const before = lab.storage.gets;
    await lab.made.clock.advance(600_000);
    assert.equal(lab.storage.gets - before, 10, 'one request a minute');
    assert.ok(before > gets);
    assert.deepEqual(lab.sizes(), [2, 3]);
  });

  test('before a pod has it is expanded before that starts', async () => {
    await using lab = await growthLab();
    lab.grown('2Gi');
    await setUp(lab);
    assert.deepEqual(lab.sizes(), [2]);
    assert.deepEqual(lab.status(), { ...done, capacity: { storage: '2Gi' } });
  });

  test('grows again while it is being expanded: the last size wins', async () => {
    await using lab = await growthLab();
    await setUp(lab);
    lab.grown('2Gi');
    lab.storage.driver.onExpand = () => lab.grown('3Gi', { allocatedResourceStatuses: {} });
    await lab.until(1);
    lab.storage.driver.onExpand = undefined;
    await lab.until(2);
    assert.deepEqual(lab.sizes(), [2, 3]);
    assert.deepEqual(lab.status().capacity, { storage: '3Gi' });
  });

  test('is expanded once for all its pods', async () => {
    await using lab = await growthLab();
    const { claimed } = await setUp(lab);
    await claimed.setUp(volumeOf(podOf('a', 'u2')), open);
    lab.grown('2Gi');
    await lab.until(1);
    await lab.made.clock.advance(600_000);
    assert.deepEqual(lab.sizes(), [2]);
  });

  test('is expanded again after an answer that leaves it open, and by the next agent', async () => {
    await using lab = await growthLab();
    await setUp(lab);
    lab.storage.driver.answers.set('expand', ['uncertain', 'uncertain']);
    lab.grown('2Gi');
    await lab.until(1);
    assert.deepEqual(lab.made.events, ['VolumeResizeFailed']);
    assert.equal(lab.status().allocatedResourceStatuses.storage, 'NodeResizeInProgress');
    assert.deepEqual(lab.status().conditions, [pending, foreign]);
    await lab.until(2);
    await setUp(lab);
    await lab.until(3);
    assert.deepEqual(lab.status().capacity, { storage: '2Gi' });
    assert.equal(lab.made.events.filter((reason) => reason === 'VolumeResizeFailed').length, 1, 'told once');
  });

  test('that its driver refuses to expand is tried again, and the claim says why', async () => {
    await using lab = await growthLab();
    await setUp(lab);
    lab.storage.driver.answers.set('expand', ['refused']);
    lab.grown('2Gi');
    await lab.until(1);
    const [, , error] = lab.status().conditions;
    assert.equal(
      error.message,
      'failed to expand pvc with Expander.NodeExpand failed to expand the volume: rpc error: code = Internal desc = no',
    );
    assert.deepEqual([error.type, error.status], ['NodeResizeError', 'True']);
    await lab.until(2);
    assert.deepEqual(lab.status(), { ...done, capacity: { storage: '2Gi' } });
  });

  test('that cannot become so large is not tried again until the controller has seen to it', async () => {
    await using lab = await growthLab();
    await setUp(lab);
    lab.storage.driver.answers.set('expand', ['infeasible']);
    lab.grown('2Gi');
    await lab.until(1);
    assert.equal(lab.status().allocatedResourceStatuses.storage, 'NodeResizeInfeasible');
    await lab.made.clock.advance(600_000);
    assert.deepEqual(lab.sizes(), [2]);
    lab.grown('2Gi');
    await lab.until(2);
  });

  test('that cannot be expanded in use is used as it is, until the next pod has it', async () => {
    await using lab = await growthLab();
    await setUp(lab);
    lab.storage.driver.answers.set('expand', ['in use', 'in use']);
    lab.grown('2Gi');
    await lab.until(1);
    await lab.made.clock.advance(600_000);
    assert.deepEqual(lab.sizes(), [2]);
    await setUp(lab, podOf('a', 'u2'));
    assert.deepEqual(lab.sizes(), [2, 2]);
    await setUp(lab, podOf('a', 'u3'));
    assert.deepEqual(lab.status().capacity, { storage: '2Gi' });
  });

  test('keeps a pod waiting that does not have it yet, where it cannot be expanded', async () => {
    await using lab = await growthLab();
    lab.grown('2Gi');
    lab.storage.driver.answers.set('expand', ['uncertain']);
    const message =
      'Expander.NodeExpand failed to expand the volume: rpc error: code = Unavailable desc = Connection dropped';
    const { claimed } = lab.made.start();
    const volume = volumeOf(podOf('a'));
    await assert.rejects(claimed.setUp(volume, open), { message, step: 'MountVolume.NodeExpandVolume' });
    await claimed.setUp(volume, open);
    assert.deepEqual(lab.sizes(), [2, 2]);
    assert.equal(lab.storage.driver.requests.length, 1, 'it is published once');
  });

  test('is expanded again where the claim could not be written', async () => {
    await using lab = await growthLab();
    await setUp(lab);
    lab.grown('2Gi', { allocatedResourceStatuses: { storage: 'NodeResizePending' } });
    lab.storage.driver.onExpand = () => {
      lab.storage.conflicts = 1;
    };
    await lab.until(1);
    assert.deepEqual(lab.status().capacity, { storage: '1Gi' });
    lab.storage.driver.onExpand = undefined;
    await lab.until(2);
    assert.deepEqual(lab.status().capacity, { storage: '2Gi' });
  });

  test('is not expanded while it is the turn of others, nor for a pod that only reads', async () => {
    await using lab = await growthLab();
    const readOnly = podWith([{ name: 'data', persistentVolumeClaim: { claimName: 'a', readOnly: true } }]);
    await setUp(lab, readOnly);
    lab.grown('2Gi');
    await lab.made.clock.advance(600_000);
    assert.deepEqual(lab.sizes(), []);
    await using other = await growthLab();
    await setUp(other);
    other.grown('2Gi', { allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' } });
    await other.made.clock.advance(600_000);
    assert.deepEqual(other.sizes(), []);
    assert.deepEqual(other.storage.patches, []);
  });

  test('is nothing to a driver that cannot expand on the node', async () => {
    await using lab = await growthLab({ can: false });
    lab.grown('2Gi');
    await setUp(lab);
    const { gets } = lab.storage;
    await lab.made.clock.advance(600_000);
    assert.deepEqual([lab.sizes(), lab.storage.gets], [[], gets + 1], 'that one is of its CSIDriver');
  });

  test('is left alone once its pod ends', async () => {
    await using lab = await growthLab();
    const { csi, release } = await setUp(lab);
    assert.deepEqual(await csi.unpublishAll('u1', open), []);
    lab.grown('2Gi');
    await lab.made.clock.advance(200_000);
    assert.deepEqual(lab.sizes(), []);
    release('u1');
    const { gets } = lab.storage;
    await lab.made.clock.advance(600_000);
    assert.equal(lab.storage.gets, gets);
  });
});
