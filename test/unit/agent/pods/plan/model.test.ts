import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plan } from '../../../../../src/agent/pods/plan/index.ts';
import { chooseSeed, randomFrom, rounds } from '../../../../support/repetition.ts';
import { uid } from './model-agent.ts';
import { ModelWorld } from './model-world.ts';

const firstSeed = chooseSeed();
const worlds = rounds({ usual: 200, full: 5000 });
const chaosSteps = 100;
/** Seconds within which a calm world must come to rest. */
const restLimit = 400;

describe('random pods on a runtime that fails, with an agent that dies', () => {
  it('come to rest and leave nothing behind', async (test) => {
    test.diagnostic(`NODEWARD_TEST_SEED=${firstSeed}`);
    let steps = 0;
    let started = 0;
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const world = new ModelWorld(seed);
      try {
        steps += await live(world, randomFrom(seed * 7919));
      } catch (error) {
        throw new Error(`failed with NODEWARD_TEST_SEED=${seed}`, { cause: error });
      }
      started += world.runtime.calls.filter((call) => call === 'startContainer').length;
    }
    test.diagnostic(`${worlds} pods, ${steps} steps, ${started} containers started`);
  });
});

async function live(world: ModelWorld, random: () => number): Promise<number> {
  const deletedAt = random() < 0.4 ? Math.floor(random() * chaosSteps) : undefined;
  for (let step = 0; step < chaosSteps; step += 1) {
    if (step === deletedAt) world.delete(Math.floor(random() * 20));
    await world.step();
    assertSound(world);
  }
  world.calm();
  const rested = await untilAtRest(world);
  if (deletedAt === undefined) world.delete(5);
  const ended = await untilAtRest(world);
  assert.deepEqual(world.runtime.podView(uid), undefined);
  assert.equal(world.disk.record.isReleased, true);
  return chaosSteps + rested + ended;
}

/** Until the pod runs as it should or has ended, and the agent has nothing to do. */
async function untilAtRest(world: ModelWorld): Promise<number> {
  for (let step = 1; step <= restLimit; step += 1) {
    const plan = await world.step();
    assertSound(world);
    if (!world.agent.isBusy && isAtRest(plan, world)) return step;
  }
  const plan = await world.step();
  const view = JSON.stringify(world.runtime.podView(uid), undefined, 1);
  const waits = [plan.stage, plan.wait, ...plan.waits.entries()];
  throw new Error(
    `does not come to rest: ${JSON.stringify({ waits, steps: plan.steps, record: world.disk.record })} ${view}`,
  );
}

function isAtRest({ stage, steps, waits }: Plan, { runtime, pod, disk }: ModelWorld): boolean {
  if (stage === 'ended') return true;
  if (steps.length > 0 || stage !== 'running') return false;
  if ([...waits].some(([name, { reason }]) => !(name.startsWith('job') && reason === 'CrashLoopBackOff')))
    return false;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const hasRun = (name: string) => disk.record.containers[name]?.made !== undefined;
  const sidecars = initContainers.filter(({ name }) => name.startsWith('side'));
  return containers.every(({ name }) => hasRun(name)) && sidecars.every(({ name }) => runtime.running(name));
}

function assertSound({ runtime, runs }: ModelWorld): void {
  assert.deepEqual([...runtime.violations, ...runs.complaints], []);
}
