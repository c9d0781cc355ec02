/** A runtime that hangs in one call: its pod says so, the others go on, and when it answers again nothing runs twice or is left. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { Fault, SimulatedCall, TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

let folder: TemporaryFolder;
let world: NodeWorld;
beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  world = new NodeWorld(folder.path);
  world.start();
});
afterEach(async () => {
  world.runtime.clearFaults();
  await world.stop();
  await folder[Symbol.asyncDispose]();
});

const deleted = (name: string) =>
  podOf(name, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 });
const hung = (call: SimulatedCall, kind: Fault['kind'], times = 1) =>
  world.runtime.fault({ call, kind, times });
const isRunning = (uid: string) => world.statuses.get(uid)?.phase === 'Running';
const explained = (uid: string) => world.worker(uid)?.plan?.wait?.message ?? '';

async function runsOnce(...names: readonly string[]): Promise<void> {
  await world.until('all to run', () => names.every((name) => isRunning(`uid-${name}`)));
  await world.pass(30_000);
  assert.equal(world.running(), names.length);
  for (const name of names)
    assert.equal(world.statuses.get(`uid-${name}`)?.containerStatuses?.[0]?.restartCount, 0);
}

/** Everything ends, and nothing is left of it: not at once where the runtime may still make what it was asked for. */
async function leavesNothing(): Promise<void> {
  world.want();
  await world.until('the runtime to be empty', () => world.isEmpty());
  await world.until('the disk to be empty', async () => (await world.leftovers()).length === 0);
  assert.deepEqual(world.runtime.violations, []);
}

const making: readonly [SimulatedCall, whileItHangs: RegExp, afterwards: RegExp][] = [
  ['runSandbox', /the sandbox is being made/, /^FailedCreatePodSandBox: .*context deadline exceeded/m],
  ['createContainer', /being started/, /^Failed: Error: context deadline exceeded/m],
  ['startContainer', /being started/, /^Failed: Error: context deadline exceeded/m],
];

describe('a runtime that hangs while it makes', () => {
  for (const kind of ['hang', 'hangAfter'] as const)
    for (const [call, whileItHangs, afterwards] of making)
      test(`${call}, ${kind === 'hang' ? 'before' : 'after'} it has done it`, async () => {
        const release = hung(call, kind);
        world.want(podOf('a'));
        await world.until('the call', () => world.runtime.calls.includes(call));
        world.want(podOf('a'), podOf('b'));
        await world.until('the other to run', () => isRunning('uid-b'), 110_000);
        if (kind === 'hang') assert.match(world.waitingMessage('uid-a'), whileItHangs);
        await world.until('the failure', () => afterwards.test(world.eventsOf('a')), 300_000);
        await world.pass(5000);
        release();
        await runsOnce('a', 'b');
        await leavesNothing();
      });

  for (const [call] of making)
    test(`${call}, for a pod that is deleted meanwhile`, async () => {
      hung(call, 'hang');
      world.want(podOf('a'));
      await world.until('the call', () => world.runtime.calls.includes(call));
      world.want(deleted('a'));
      await world.until('the pod to end', () => world.worker('uid-a') === undefined, 400_000);
      world.runtime.clearFaults(); // what was given up is done only now
      await world.pass(1000);
      await leavesNothing();
    });
});

const asking: readonly SimulatedCall[] = ['listSandboxes', 'listContainers'];

describe('a runtime that hangs when it is asked', () => {
  for (const call of asking)
    test(`${call}: pods say that nothing is known, and run when it answers`, async () => {
      world.want(podOf('a'));
      await world.until('the first to run', () => isRunning('uid-a'));
      hung(call, 'hang', 10_000);
      // what the runtime has done by itself its events tell; after a failure it must be asked
      const error = new RuntimeError('failed', 'no such file');
      world.runtime.fault({ call: 'runSandbox', kind: 'before', error });
      world.want(podOf('a'), podOf('b'));
      const unknown = /the container runtime has of the pod is not known: .* 10 s/;
      await world.until('the other to say so', () => unknown.test(world.waitingMessage('uid-b')));
      const event = /^FailedSync: error determining status: .*has not told .* within 10 s/m;
      await world.until('the event', () => event.test(world.eventsOf('b')));
      assert.ok(isRunning('uid-a'), 'what runs is still said to run');
      await world.pass(60_000);
      world.runtime.clearFaults();
      await runsOnce('a', 'b');
      await leavesNothing();
    });

  test('sandboxStatus: pods run at the latest when it answers, also where no event says what it would', async () => {
    hung('sandboxStatus', 'hang', 10_000);
    world.want(podOf('a'), podOf('b'));
    await world.pass(60_000);
    world.runtime.clearFaults();
    await runsOnce('a', 'b');
    await leavesNothing();
  });

  test('an agent that starts then says nothing of what ran before it', async () => {
    world.want(podOf('a'));
    await world.until('it to run', () => isRunning('uid-a'));
    await world.stop();
    world.statuses.clear();
    hung('listSandboxes', 'hang', 10_000);
    world.start();
    await world.until('the event', () => /FailedSync/.test(world.eventsOf('a')));
    assert.equal(world.statuses.get('uid-a'), undefined);
    world.runtime.clearFaults();
    await runsOnce('a');
    await leavesNothing();
  });
});

const ending: readonly [SimulatedCall, RegExp][] = [
  ['stopContainer', /containers are being stopped: main/],
  ['stopSandbox', /its sandbox is being stopped/],
  ['removeContainer', /removed from the runtime|released/],
  ['removeSandbox', /removed from the runtime|released/],
];

describe('a runtime that hangs while it ends', () => {
  for (const kind of ['hang', 'hangAfter'] as const)
    for (const [call, whileItHangs] of ending)
      test(`${call}, ${kind === 'hang' ? 'before' : 'after'} it has done it`, async () => {
        world.want(podOf('a'), podOf('b'));
        await runsOnce('a', 'b');
        const release = hung(call, kind);
        const before = world.runtime.calls.length;
        world.want(deleted('a'), podOf('b'));
        await world.until('the call', () => world.runtime.calls.slice(before).includes(call));
        await world.pass(20_000);
        if (kind === 'hang') assert.match(explained('uid-a'), whileItHangs);
        assert.ok(isRunning('uid-b'));
        await world.pass(200_000);
        release();
        await world.until('it to be gone', () => world.worker('uid-a') === undefined);
        assert.equal(world.running(), 1);
        assert.deepEqual(world.runtime.sandboxes().length, 1);
        await leavesNothing();
      });
});
