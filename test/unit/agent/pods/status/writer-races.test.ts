import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PodStatus } from '../../../../../src/agent/pods/status/index.ts';
import { ConnectionError } from '../../../../../src/client/index.ts';
import { nameOf, writerWorld } from './fake-api.ts';

/* Whatever happens on the way, in the end the API has what was set last. */

const names = ['a', 'b', 'c'];
const phases = ['Pending', 'Running'];

const steps = fc.oneof(
  fc.record({
    do: fc.constant('set'),
    name: fc.constantFrom(...names),
    phase: fc.constantFrom(...phases),
    ready: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('meddle'),
    name: fc.constantFrom(...names),
    phase: fc.constantFrom('Unknown', ...phases),
  }),
  fc.record({ do: fc.constantFrom('refuse', 'lose', 'answer', 'slow', 'hideWatch', 'showWatch') }),
  fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1, 50, 500, 5000, 60_000) }),
);

const statusOf = (phase: string, isReady: boolean): PodStatus => ({
  phase,
  conditions: [
    { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: '2026-05-01T12:00:00Z' },
  ],
});

type World = ReturnType<typeof writerWorld>;

/** Sets how the API behaves from now on. */
function behave({ state, show, clock }: World, how: string): void {
  const fail = async () => {
    throw new ConnectionError('broken', 'the connection broke');
  };
  const work = async () => undefined;
  if (how === 'hideWatch') state.isWatchBehind = true;
  if (how === 'showWatch') {
    state.isWatchBehind = false;
    show();
  }
  if (['refuse', 'lose', 'answer', 'slow'].includes(how)) {
    state.before = how === 'refuse' ? fail : how === 'slow' ? () => clock.sleep(700) : work;
    state.after = how === 'lose' ? fail : work;
  }
}

test('whatever fails, lags or meddles, the API has in the end what was set last, and nobody writes on', async () => {
  const life = fc.asyncProperty(fc.array(steps, { maxLength: 25 }), async (all) => {
    const world = writerWorld(names);
    const { writer, clock, put, asked, statusOf: onApi } = world;
    const wanted = new Map<string, PodStatus>();
    await world.running(async () => {
      for (const step of all) {
        if ('ready' in step) {
          wanted.set(step.name, statusOf(step.phase, step.ready));
          writer.set(nameOf(step.name), statusOf(step.phase, step.ready));
        } else if ('phase' in step)
          put(step.name, (pod) => ({ ...pod, status: { ...pod.status, phase: step.phase } }));
        else if ('ms' in step) await clock.advance(step.ms);
        else behave(world, step.do);
      }
      behave(world, 'answer');
      behave(world, 'showWatch');
      await clock.advance(300_000);
      for (const [name, status] of wanted) {
        assert.equal(onApi(name)?.phase, status.phase, name);
        assert.equal(onApi(name)?.conditions?.[0]?.status, status.conditions?.[0]?.status, name);
      }
      asked.length = 0;
      await clock.advance(600_000);
      assert.deepEqual(asked, []);
    });
    assert.ok(world.state.maxAtOnce <= 8);
  });
  await fc.assert(life, { numRuns: 100 });
});
