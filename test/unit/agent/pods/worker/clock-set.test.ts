/** The wall clock is set while pods run, end and wait: what they are given is given by time that passes. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

const dayMs = 24 * 3600 * 1000;
let folder: TemporaryFolder;
let world: NodeWorld;
beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  world = new NodeWorld(folder.path, {
    behaviours: ({ podUid }) =>
      podUid === 'uid-crashing' ? { exitAfterMs: 1000, exitCode: 1 } : { obeysAfterMs: 'never' },
  });
  world.start();
});
afterEach(async () => {
  await world.stop();
  assert.deepEqual(world.runtime.violations, []);
  await folder[Symbol.asyncDispose]();
});

const withSidecar = ({ spec, ...pod }: Pod): Pod => ({
  ...pod,
  spec: {
    ...spec,
    initContainers: [{ name: 'side', image: 'app:1', restartPolicy: 'Always' }],
    containers: spec?.containers ?? [],
  },
});
const restarts = (uid: string) => world.statuses.get(uid)?.containerStatuses?.[0]?.restartCount ?? -1;
const stopsOf = (container: string) =>
  world.timeline
    .entries('uid-a')
    .map(({ what }) => what)
    .filter((what) => what.startsWith(`stop container ${container} `));

for (const [how, setMs] of [
  ['far ahead', 365 * dayMs],
  ['back', -30 * dayMs],
] as const)
  describe(`a clock that is set ${how}`, () => {
    test('touches nothing that runs', async () => {
      world.want(podOf('a'), podOf('b'));
      await world.until('both to run', () => world.running() === 2);
      const before = world.runtime.containers().map(({ id }) => id);
      world.clock.setWall(setMs);
      await world.pass(120_000);
      assert.deepEqual(
        world.runtime.containers().map(({ id }) => id),
        before,
      );
      world.want(podOf('a'), podOf('b'), podOf('c'));
      await world.until('a pod to begin after it', () => world.running() === 3);
    });

    test('leaves a pod that ends its whole grace, and no more, and its sidecars run as long', async () => {
      world.want(withSidecar(podOf('a')));
      await world.until('it to run', () => world.running() === 2);
      const grace = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 60 };
      world.want(withSidecar(podOf('a', grace)));
      await world.until('the stop', () => world.runtime.calls.includes('stopContainer'));
      const startedMs = world.clock.monotonicMs();
      world.clock.setWall(setMs);
      world.want(withSidecar(podOf('a', { ...grace, labels: { changed: 'meanwhile' } })));
      await world.until('the first to end', () => world.running() < 2);
      const tookMs = world.clock.monotonicMs() - startedMs;
      assert.ok(tookMs > 55_000 && tookMs < 65_000, `it had ${tookMs} ms`);
      assert.equal(world.runtime.running('main'), undefined, 'the sidecar outlives it');
      // the disk takes real time, in which that of the test runs away: the step says what the sidecar is given
      await world.until('the stop of the sidecar', () => stopsOf('side').length > 0);
      assert.deepEqual(stopsOf('side'), ['stop container side within 2 s']);
      await world.until('it to be gone', () => world.isEmpty());
    });

    test('ends no wait of a container for ever, and gives it no second start', async () => {
      world.want(podOf('crashing'));
      await world.until('the second restart', () => restarts('uid-crashing') === 2);
      world.clock.setWall(setMs);
      await world.until('the next', () => restarts('uid-crashing') === 3, 60_000);
      await world.until('and the next', () => restarts('uid-crashing') === 4, 120_000);
    });
  });
