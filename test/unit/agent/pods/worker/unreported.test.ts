/** What is not reported to the agent, which goes on all the same, within a bounded time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageState } from '../../../../../src/agent/images/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { seededRandom } from '../../../../support/repetition.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

const uid = 'uid-a';

test('a pod whose image is there, which nobody reports, starts within five minutes', async () => {
  await using folder = await temporaryFolder('pods-');
  let state: ImageState = { state: 'pulling', message: 'it is on its way' };
  const world = new NodeWorld(folder.path, {
    images: {
      want: () => state,
      forget: () => undefined,
      onChange: () => ({ [Symbol.dispose]: () => undefined }),
    },
  });
  world.want(podOf('a'));
  world.start();
  await world.until('it to wait', () => /on its way/.test(world.waitingMessage(uid)));
  await world.pass(10_000);
  assert.equal(world.running(), 0);
  state = { state: 'present', id: 'sha256:1', user: {} };
  await world.until('it to run', () => world.statuses.get(uid)?.phase === 'Running', 310_000);
  await world.stop();
});

for (const [share, name] of [
  [1, 'every event'],
  [0.5, 'every other event'],
] as const)
  test(`a runtime of which ${name} gets lost: each pod runs, is started again when it ends, and goes`, async (t) => {
    await using folder = await temporaryFolder('pods-');
    const random = seededRandom(t);
    const names = ['a', 'b', 'c', 'd'];
    const runs = new Map<string, Set<number>>(names.map((each) => [`uid-${each}`, new Set()]));
    const world = new NodeWorld(folder.path, {
      isLost: () => random() < share,
      behaviours: ({ podUid, attempt }) => {
        runs.get(podUid)?.add(attempt);
        return attempt === 0 ? { exitAfterMs: 10_000 * random(), exitCode: 1 } : {};
      },
    });
    const isAgain = (uid: string) => world.statuses.get(uid)?.containerStatuses?.[0]?.restartCount === 1;
    world.want(...names.map((each) => podOf(each)));
    world.start();
    await world.until(
      'all to run again',
      () => [...runs.keys()].every(isAgain) && world.running() === 4,
      180_000,
    );
    world.want();
    await world.until(
      'all to be gone',
      async () => world.isEmpty() && (await world.leftovers()).length === 0,
      180_000,
    );
    assert.deepEqual(
      [...runs.values()].map(({ size }) => size),
      [2, 2, 2, 2],
    );
    assert.deepEqual(world.runtime.violations, []);
    await world.stop();
  });
