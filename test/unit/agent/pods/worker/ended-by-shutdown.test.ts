/** What becomes of pods that ended because the machine was to shut down. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { nodeShutdown } from '../../../../../src/agent/pods/admission/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

let folder: TemporaryFolder;
let world: NodeWorld;
beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  world = new NodeWorld(folder.path, {
    admit: async () =>
      world.isShuttingDown
        ? {
            isAdmitted: false,
            reason: 'NodeShutdown',
            message: 'Pod was rejected as the node is shutting down.',
          }
        : { isAdmitted: true },
  });
});
afterEach(async () => {
  await world.stop();
  assert.deepEqual(world.runtime.violations, []);
  await folder[Symbol.asyncDispose]();
});

const ofApi = podOf('web', { creationTimestamp: '2025-01-01T00:00:00Z' });
const ofFile = podOf('proxy', {
  annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'one' },
});
const statusOf = ({ metadata }: Pod) => world.statuses.get(metadata?.uid ?? '');

const isFailed = (pod: Pod) => statusOf(pod)?.phase === 'Failed';

async function shutDown(): Promise<void> {
  world.isShuttingDown = true;
  for (const uid of ['uid-web', 'uid-proxy']) world.manager.endPod(uid, { ...nodeShutdown, graceSeconds: 5 });
  await world.until('both to have ended', () => isFailed(ofApi) && isFailed(ofFile) && world.running() === 0);
  await world.until('all to be given back', () =>
    world.manager.workers().every(({ record }) => record.isReleased === true),
  );
}

async function runBoth(): Promise<void> {
  world.want(ofApi, ofFile);
  world.start();
  await world.until('both to run', () => world.running() === 2);
}

describe('pods that ended because the machine was to shut down', () => {
  test('say so, to the word of the reference', async () => {
    await runBoth();
    await shutDown();
    for (const pod of [ofApi, ofFile]) {
      const { phase, reason, message, conditions = [] } = statusOf(pod) ?? {};
      const said = 'Pod was terminated in response to imminent node shutdown.';
      assert.deepEqual([phase, reason, message], ['Failed', 'Terminated', said]);
      const disruption = conditions.find(({ type }) => type === 'DisruptionTarget');
      assert.deepEqual(
        [disruption?.status, disruption?.reason, disruption?.message],
        ['True', 'TerminationByKubelet', said],
      );
    }
  });

  test('stay ended until the shutdown is given up; then static ones begin again', async () => {
    await runBoth();
    await shutDown();
    await world.pass(60_000);
    assert.equal(world.running(), 0);
    world.isShuttingDown = false;
    await world.until('the static pod to run again', () => world.running() === 1);
    await world.until('its status', () => statusOf(ofFile)?.phase === 'Running');
    assert.equal(statusOf(ofFile)?.reason ?? '', '');
    await world.pass(60_000);
    assert.deepEqual([world.running(), isFailed(ofApi)], [1, true]);
  });

  test('after the machine has started again, only static ones run', async () => {
    await runBoth();
    await shutDown();
    await world.kill();
    world.runtime.reboot();
    world.isShuttingDown = false;
    world.start();
    await world.until('the static pod to run again', () => statusOf(ofFile)?.phase === 'Running');
    await world.pass(60_000);
    assert.deepEqual([world.running(), isFailed(ofApi)], [1, true]);
  });

  test('whose end was cut short by that of the agent, end under the next', async () => {
    await runBoth();
    world.isShuttingDown = true;
    for (const uid of ['uid-web', 'uid-proxy'])
      world.manager.endPod(uid, { ...nodeShutdown, graceSeconds: 5 });
    await world.stop();
    world.start();
    await world.until(
      'both to have ended',
      () => isFailed(ofApi) && isFailed(ofFile) && world.running() === 0,
    );
    assert.equal(statusOf(ofApi)?.reason, 'Terminated');
  });

  test('a static pod that was refused meanwhile is taken afterwards, another pod is not', async () => {
    world.isShuttingDown = true;
    world.want(ofApi, ofFile);
    world.start();
    await world.until('both to be refused', () => isFailed(ofApi) && isFailed(ofFile));
    assert.equal(statusOf(ofFile)?.reason, 'NodeShutdown');
    world.isShuttingDown = false;
    await world.until('the static pod to run', () => world.running() === 1);
    await world.pass(60_000);
    assert.deepEqual([world.running(), isFailed(ofApi)], [1, true]);
  });
});

test('a stop of the agent ends no pod', async () => {
  await runBoth();
  await world.stop();
  assert.equal(world.running(), 2);
  assert.deepEqual([isFailed(ofApi), isFailed(ofFile)], [false, false]);
  world.start();
});
