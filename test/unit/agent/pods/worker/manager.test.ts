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
  await world.stop();
  assert.deepEqual(world.runtime.violations, []);
  await folder[Symbol.asyncDispose]();
});

const runs = (count: number) => waitFor(`${count} containers`, () => world.running() === count);
const hears = (what: string) => waitFor(what, () => world.happened.includes(what));
const deleted = (name: string) =>
  podOf(name, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 });
const isEmpty = () => world.runtime.sandboxes().length === 0 && world.runtime.containers().length === 0;

describe('the pods of a node', () => {
  test('run, and leave nothing when they are deleted', async () => {
    world.want(podOf('a'), podOf('b'));
    await runs(2);
    world.want(deleted('a'), podOf('b'));
    await hears('deleted a');
    await runs(1);
    const records = () => readdir(join(folder.path, 'pod-records'));
    await waitFor('one record', async () => (await records()).length === 1);
    assert.deepEqual(await records(), ['uid-b.json']);
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
