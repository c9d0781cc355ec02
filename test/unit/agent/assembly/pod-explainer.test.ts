import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExplainer } from '../../../../src/agent/assembly/pod-explainer.ts';
import { WaitTimes } from '../../../../src/agent/pods/explain/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { PodWorld, podOf } from '../pods/worker/world.ts';

test('a pod is explained before it is taken up, while the runtime tells nothing, when it runs and when only its object is left', async () => {
  await using folder = await temporaryFolder('pods-');
  const world = new PodWorld(folder.path);
  world.viewError = new Error('the shim does not answer');
  world.start();
  const { manager, runtime, timeline } = world;
  assert.ok(manager !== undefined);
  let isComplete = false;
  const explainer = createExplainer({
    probes: { waitsOf: () => new Map() },
    volumes: { contentsOf: () => [] },
    disks: { list: async () => [] },
    pressures: () => [],
    refusedManifests: () => [],
    ...{ manager, timeline, waits: new WaitTimes(systemClock), isComplete: () => isComplete },
    teller: { statusOf: () => undefined },
    view: { pod: (uid) => runtime.podView(uid), podProblem: () => undefined },
  });
  const waitsOf = (name: string) => explainer.find('default', name)?.waitsFor;
  try {
    assert.match(explainer.whyMissing() ?? '', /not been heard/);
    isComplete = true;
    assert.equal(explainer.whyMissing(), undefined);

    // after a step that failed a pod must be looked at, either of them
    runtime.fault({ call: 'runSandbox', kind: 'before', times: 2 });
    world.want(podOf('b'), podOf('a'));
    await waitFor('the runtime is waited for', () => /does not answer/.test(waitsOf('a')?.message ?? ''));
    assert.equal(waitsOf('a')?.reason, 'RuntimeNotReady');
    assert.ok(waitsOf('a')?.since);
    assert.deepEqual(
      explainer.list().map(({ name }) => name),
      ['a', 'b'],
    );

    world.viewError = undefined;
    await waitFor('it runs', () => explainer.find('default', 'a')?.containers[0]?.state === 'running');
    assert.equal(waitsOf('a'), undefined);

    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 };
    world.want(podOf('a', { ...deletion, finalizers: ['example.com/keep'] }), podOf('b'));
    await waitFor('only its object is left', () => /finalizers/.test(waitsOf('a')?.message ?? ''));
    assert.equal(explainer.find('default', 'a')?.stage, 'ended');
  } finally {
    await world.stop();
  }
});
