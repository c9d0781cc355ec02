import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { PodWorld, podOf } from './world.ts';

let folder: TemporaryFolder;
let world: PodWorld;
beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  world = new PodWorld(folder.path);
  world.start();
});
afterEach(async () => {
  world.runtime.clearFaults();
  world.heldWrites?.resolve();
  await world.stop();
  assert.deepEqual(world.runtime.violations, []);
  await folder[Symbol.asyncDispose]();
});

const runs = (count: number) => waitFor(`${count} containers`, () => world.running() === count);
const hears = (what: string) => waitFor(what, () => world.happened.includes(what));
const deleted = (name: string) =>
  podOf(name, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 });
const records = () => readdir(join(folder.path, 'pod-records'));
const isEmpty = () => world.runtime.sandboxes().length === 0 && world.runtime.containers().length === 0;

describe('the pods of a node', () => {
  test('run, and leave nothing when they are deleted', async () => {
    world.want(podOf('a'), podOf('b'));
    await runs(2);
    world.want(deleted('a'), podOf('b'));
    await hears('deleted a');
    await runs(1);
    await waitFor('only the record of b is left', async () => (await records()).join() === 'uid-b.json');
  });

  test('end at their deadline, and an Event says so once', async () => {
    const { spec, ...pod } = podOf('a');
    world.want({ ...pod, spec: { containers: [], ...spec, activeDeadlineSeconds: 1 } });
    await runs(1);
    await hears('DeadlineExceeded a');
    await runs(0);
    assert.equal(world.happened.filter((what) => what === 'DeadlineExceeded a').length, 1);
  });

  test('that the node ends stay ended, whatever was begun and whoever starts again', async () => {
    const end = { reason: 'Evicted', message: 'low on memory', graceSeconds: 1, disruption: 'low on memory' };
    world.want(podOf('a'), podOf('b'));
    await runs(2);
    assert.equal(world.manager?.endPod('uid-a', end), true);
    assert.equal(world.manager?.endPod('uid-a', { ...end, reason: 'Terminated', graceSeconds: 30 }), true);
    assert.equal(world.manager?.endPod('uid-c', end), false);
    await world.stop();
    world.start();
    await hears('release a');
    await runs(1);
    const { termination } = world.manager?.worker('uid-a')?.record ?? {};
    const { sinceMs, ...said } = termination ?? {};
    assert.equal(typeof sinceMs, 'number');
    assert.deepEqual(said, { ...end, cause: 'failed' });
    assert.equal(world.manager?.endPod('uid-a', end), false);
  });

  test('that have ended leave nothing in the runtime when it is to be cleared, and stay ended', async () => {
    world.want(podOf('a'), podOf('b'));
    await runs(2);
    const signal = AbortSignal.timeout(60_000);
    await world.manager?.clearEnded(signal);
    assert.equal(world.running(), 2);
    world.manager?.endPod('uid-a', { reason: 'Evicted', message: 'low', graceSeconds: 1 });
    await hears('release a');
    await waitFor('it to be released', () => world.manager?.worker('uid-a')?.record.isReleased === true);
    assert.equal(world.runtime.containers().length, 2, 'its container is kept for those who ask');
    await world.manager?.clearEnded(signal);
    assert.deepEqual([world.runtime.containers().length, world.runtime.sandboxes().length], [1, 1]);
    await world.stop();
    world.start();
    await waitFor('its worker', () => world.manager?.worker('uid-a')?.plan?.stage === 'ended');
    const { lastExit } = world.manager?.worker('uid-a')?.record.containers['main'] ?? {};
    assert.ok(lastExit, 'how it ended is known all the same');
    assert.deepEqual([world.runtime.containers().length, world.running()], [1, 1]);
  });

  test('whose sandbox ended get another one, and an Event says so', async () => {
    world.want(podOf('a'));
    await runs(1);
    assert.ok(!world.happened.includes('SandboxChanged a'));
    world.runtime.killSandbox(world.runtime.sandboxes()[0]?.id ?? '');
    world.manager?.worker('uid-a')?.wake();
    await hears('SandboxChanged a');
    await runs(1);
  });

  test('leave no record, however soon the API has deleted them', async () => {
    world.want(podOf('a'));
    await runs(1);
    const worker = world.manager?.worker('uid-a');
    // at any moment while its record is being removed, as when the watch tells that its object has gone
    let sinceMs = 0;
    const vanish = () => {
      sinceMs -= 1;
      worker?.terminate({ cause: 'gone', graceSeconds: 0, sinceMs });
      if (world.manager?.worker('uid-a') !== undefined) setImmediate(vanish);
    };
    world.onEnded = () => void setImmediate(vanish);
    world.want(deleted('a'));
    await hears('deleted a');
    world.want();
    await waitFor('its worker to end', () => world.manager?.workers().length === 0);
    await world.stop();
    assert.deepEqual(await readdir(join(folder.path, 'pod-records')), []);
  });

  test('cost the runtime no call twice', async () => {
    world.want(podOf('a', { generation: 1 }));
    await runs(1);
    const started = ['runSandbox', 'createContainer', 'startContainer'];
    assert.deepEqual(world.runtime.calls, started);
    assert.equal(world.looks, 0, 'its events have told of the sandbox and of the container');
    const { plan } = world.manager?.worker('uid-a') ?? {};
    world.want({ ...podOf('a', { generation: 1, resourceVersion: '2' }), status: { podIP: '10.0.0.1' } });
    await waitFor('the newer object', () => world.manager?.worker('uid-a')?.pod.status !== undefined);
    assert.equal(world.manager?.worker('uid-a')?.plan, plan);
    world.want(deleted('a'));
    await hears('deleted a');
    const ended = ['stopContainer', 'stopSandbox', 'removeContainer', 'removeSandbox'];
    assert.deepEqual(world.runtime.calls, [...started, ...ended]);
  });

  test('are in a record soon, also one whose image does not come', async () => {
    world.runtime.fault({ call: 'runSandbox', kind: 'hang' });
    world.want(podOf('a'));
    await waitFor('the call', () => world.runtime.calls.includes('runSandbox'));
    assert.deepEqual(await records(), ['uid-a.json']);
  });

  test('that were deleted are not begun again while the API still has them', async () => {
    world.want(podOf('a'));
    await runs(1);
    world.want(deleted('a'));
    await hears('deleted a');
    world.want(deleted('a'), podOf('b'));
    await runs(1);
    assert.equal(world.happened.filter((what) => what === 'deleted a').length, 1);
  });

  test('that are not taken up, or are done with, are held with the reason', async () => {
    const held = () => world.manager?.heldPods().map(({ pod, wait }) => [pod.metadata?.uid, wait.message]);
    world.want(podOf('a'));
    await runs(1);
    const goOn = world.runtime.fault({ call: 'stopContainer', kind: 'hang' });
    world.want(podOf('a', { uid: 'another' }));
    await waitFor('the second is held', () => held()?.length === 1);
    assert.deepEqual(held(), [['another', 'an earlier pod of its name is still here: uid-a']]);
    goOn();
    await waitFor('the second is begun', () => held()?.length === 0);

    const finalizers = ['example.com/a', 'example.com/b'];
    world.want({ ...deleted('b'), metadata: { ...deleted('b').metadata, finalizers } });
    await hears('deleted b');
    await waitFor('its object is waited for', () => held()?.length === 1);
    assert.match(held()?.[0]?.[1] ?? '', /nothing of it is left .*: example.com\/a, example.com\/b$/);
    world.want();
    await waitFor('it is forgotten', () => held()?.length === 0);
  });

  test('that are in no source any more end', async () => {
    world.want(podOf('a'));
    await runs(1);
    world.want();
    await hears('gone a');
    assert.ok(isEmpty());
  });

  test('of one name follow each other: the second begins when nothing of the first is left', async () => {
    world.want(podOf('a'));
    await runs(1);
    world.want(podOf('a', { uid: 'another' }));
    await hears('gone a');
    await runs(1);
    assert.equal(world.runtime.sandboxes().length, 1);
  });

  test('come back when they are wanted again with the same uid', async () => {
    world.want(podOf('a'));
    await runs(1);
    world.want();
    await hears('gone a');
    world.want(podOf('a'));
    await runs(1);
  });

  test('that are refused never start, and others do', async () => {
    world.admit(({ metadata }) =>
      metadata?.name === 'a'
        ? { isAdmitted: false, reason: 'OutOfcpu', message: 'no' }
        : { isAdmitted: true },
    );
    world.want(podOf('a'), podOf('b'));
    await hears('OutOfcpu a');
    await runs(1);
    const { termination } = world.manager?.worker('uid-a')?.record ?? {};
    assert.deepEqual([termination?.reason, termination?.message], ['OutOfcpu', 'Pod was rejected: no']);
  });

  test('that are refused, however many, hold up nobody for the disk', async () => {
    const refuse = (pod: { metadata?: { name?: string } }) => pod.metadata?.name !== 'z';
    world.admit((pod) =>
      refuse(pod) ? { isAdmitted: false, reason: 'OutOfpods', message: 'no' } : { isAdmitted: true },
    );
    world.heldWrites = Promise.withResolvers<void>();
    world.want(podOf('a'), podOf('b'), podOf('z'));
    await waitFor('all are taken up', () => world.manager?.workers().length === 3);
    world.heldWrites.resolve();
    await runs(1);
    await waitFor('all are remembered', async () => (await records()).length === 3);
  });

  test('that have room only when others have ended wait for these', async () => {
    world.admit((_pod, others) =>
      others === 0 ? { isAdmitted: true } : { isAdmitted: false, reason: 'NodePorts', message: 'no' },
    );
    world.want(podOf('a'));
    await runs(1);
    world.runtime.fault({ call: 'stopContainer', kind: 'hang' });
    world.want(deleted('a'), podOf('b'));
    await waitFor('the stop', () => world.runtime.calls.includes('stopContainer'));
    assert.ok(!world.happened.includes('NodePorts b'));
    world.runtime.clearFaults();
    await hears('deleted a');
    await runs(1);
  });

  test('of others are let be', async () => {
    const labels = { 'io.kubernetes.pod.uid': 'foreign' };
    const metadata = { name: 'x', namespace: 'y', uid: 'foreign', attempt: 0 };
    await world.runtime.runSandbox({ metadata, labels }, '');
    world.want(podOf('a'));
    await runs(1);
    world.want();
    await hears('gone a');
    assert.equal(world.runtime.sandboxes().length, 1);
  });

  test('of a manifest follow what another agent made of it under another uid', async () => {
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const metadata = { name: 'a', namespace: 'default', uid: 'other-hash', attempt: 0 };
    const labels = { 'io.kubernetes.pod.uid': 'other-hash' };
    const sandbox = await world.runtime.runSandbox({ metadata, labels, annotations }, '');
    const config = { metadata: { name: 'main', attempt: 0 }, labels };
    const old = await world.runtime.createContainer(sandbox, config, {});
    await world.runtime.startContainer(old);
    world.want(podOf('b', { name: 'a', annotations }));
    await waitFor(
      'its own',
      () => world.runtime.running('main') !== undefined && world.runtime.running('main')?.id !== old,
    );
    assert.deepEqual(
      world.runtime.sandboxes().map(({ config: made }) => made.metadata?.uid),
      ['uid-b'],
    );
    assert.deepEqual(world.happened.slice(0, 2), ['release a', 'forget a']);
  });

  test('run beside one whose uid cannot be kept', async () => {
    world.want(podOf('odd', { uid: 'a/b' }), podOf('a'));
    await runs(1);
  });

  test('do not wait for one whose call hangs', async () => {
    world.runtime.fault({ call: 'runSandbox', kind: 'hang' });
    world.want(podOf('a'));
    await waitFor('the call', () => world.runtime.calls.includes('runSandbox'));
    world.want(podOf('a'), podOf('b'), podOf('c'));
    await runs(2);
  });
});

describe('an agent that starts again', () => {
  test('touches no container', async () => {
    world.want(podOf('a'), podOf('b'));
    await runs(2);
    const before = world.runtime.containers().map(({ id }) => id);
    await world.stop();
    world.start();
    await waitFor('the workers', () => world.manager?.workers().length === 2);
    await waitFor('their plans', () =>
      world.manager?.workers().every(({ plan }) => plan?.stage === 'running'),
    );
    assert.deepEqual(
      world.runtime.containers().map(({ id }) => id),
      before,
    );
  });

  test('ends what went while it was away', async () => {
    world.want(podOf('a'));
    await runs(1);
    await world.stop();
    world.want();
    world.start();
    await hears('gone a');
    assert.ok(isEmpty());
  });

  test('reports a wait again when it is for another reason, and no more often', async () => {
    const reports = (reason: string) => world.happened.filter((each) => each === `${reason} a`).length;
    const objects = [1, 2, 3, 4].map((number) => podOf('a', { annotations: { number: String(number) } }));
    const tell = async (message: string, expected: number) => {
      world.network = { isReady: false, message };
      const looks = world.manager?.worker('uid-a')?.plan;
      world.want(...objects.splice(0, 1));
      await waitFor('another plan', () => world.manager?.worker('uid-a')?.plan !== looks);
      assert.equal(reports('NetworkNotReady'), expected);
    };
    await tell('cni plugin not initialized', 1);
    await tell('cni plugin not initialized', 1);
    await tell('no network config found', 2);
    await tell('cni plugin not initialized', 3);
    world.network = { isReady: true, message: '' };
    // after a step that failed it must be looked at
    world.runtime.fault({ call: 'runSandbox', kind: 'before' });
    world.viewError = new Error('no answer');
    world.want(podOf('a'));
    await waitFor('the report', () => reports('FailedSync') === 1);
    world.viewError = new Error('another answer');
    await waitFor('the other report', () => reports('FailedSync') === 2);
    world.viewError = undefined;
    await runs(1);
  });

  test('says that what is left on the disk of one that went meanwhile is its own, before it forgets it', async () => {
    world.want(podOf('a'));
    await runs(1);
    await world.stop();
    for (const { id } of world.runtime.sandboxes()) {
      await world.runtime.stopSandbox(id);
      await world.runtime.removeSandbox(id);
    }
    world.canClaim = false;
    world.want();
    world.start();
    await hears('abandoned uid-a');
    await world.stop();
    assert.deepEqual(await records(), ['uid-a.json']);
    world.canClaim = true;
    world.start();
    await waitFor('the record to go', async () => (await records()).length === 0);
  });

  test('ends nothing that a source names while another pod is being admitted', async () => {
    world.want(podOf('a'));
    await runs(1);
    const before = world.runtime.containers().map(({ id }) => id);
    await world.stop();
    const decided = Promise.withResolvers<{ isAdmitted: true }>();
    world.admit(() => decided.promise);
    world.isComplete = false;
    world.want(podOf('static'));
    world.start();
    await new Promise((resolve) => setImmediate(resolve));
    world.isComplete = true;
    world.want(podOf('static'), podOf('a'));
    decided.resolve({ isAdmitted: true });
    await runs(2);
    assert.ok(world.runtime.containers().some(({ id }) => id === before[0]));
    assert.ok(!world.happened.includes('gone a'));
  });

  test('begins a pod when nothing is left of another of its name that went meanwhile', async () => {
    world.want(podOf('a'));
    await runs(1);
    await world.stop();
    world.want(podOf('a', { uid: 'another' }));
    world.start();
    await hears('gone a');
    await runs(1);
    const made = world.runtime.calls.lastIndexOf('runSandbox');
    assert.ok(made > world.runtime.calls.lastIndexOf('removeSandbox'), 'the old one went first');
  });

  test('counts a container that vanished before it was seen', async () => {
    world.lostStarts = 2;
    world.want(podOf('a'));
    await runs(1);
    const [{ config } = assert.fail('there is none')] = world.runtime.containers();
    assert.equal(config.annotations?.['io.kubernetes.container.restartCount'], '2');
  });

  test('counts the restarts by the logs where nothing else is left, and never twice', async () => {
    const counts = () =>
      world.runtime
        .containers()
        .map(({ config }) => config.annotations?.['io.kubernetes.container.restartCount']);
    world.logged = new Map([['main', 3]]);
    world.want(podOf('a'));
    await runs(1);
    assert.deepEqual(counts(), ['4']);
    await world.stop();
    for (const { id } of world.runtime.containers()) await world.runtime.removeContainer(id);
    world.logged = new Map([['main', 9]]);
    world.start();
    await runs(1);
    assert.deepEqual(counts(), ['5']);
  });

  for (let steps = 0; steps <= 4; steps += 1)
    test(`after ${steps} calls of the runtime runs each container once`, async () => {
      world.want(podOf('a'), podOf('b'));
      await waitFor(`${steps} calls`, () => world.runtime.calls.length >= steps);
      await world.stop();
      world.start();
      await runs(2);
      world.want();
      await waitFor('the end', isEmpty);
    });
});
