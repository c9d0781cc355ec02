/** Random pods and nodes: whoever can run is placed, nowhere twice, never where it does not fit, and nobody ends in vain. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseSeed, randomFrom, rounds } from '../../../support/repetition.ts';
import { ModelWorld } from './model-world.ts';

const firstSeed = chooseSeed();
const worlds = rounds({ usual: 300, full: 10_000 });
const steps = 60;
/** Steps within which a calm world comes to rest. */
const restLimit = 200;

describe('random pods and nodes, with bindings that fail or come late', () => {
  test('come to rest, each pod where it fits or nowhere', (context) => {
    context.diagnostic(`NODEWARD_TEST_SEED=${firstSeed}`);
    const sum = { placed: 0, preempted: 0 };
    for (let seed = firstSeed; seed < firstSeed + worlds; seed++) {
      try {
        const { placed, preempted } = live(seed);
        sum.placed += placed;
        sum.preempted += preempted;
      } catch (error) {
        throw new Error(`failed with NODEWARD_TEST_SEED=${seed}`, { cause: error });
      }
    }
    assert.ok(
      sum.placed > worlds && sum.preempted > worlds / 10,
      'worlds in which little happens show little',
    );
    context.diagnostic(`${worlds} worlds, ${sum.placed} pods placed, ${sum.preempted} preempted`);
  });
});

function live(seed: number): ModelWorld['counts'] {
  const world = new ModelWorld(randomFrom(seed));
  for (let step = 0; step < steps; step++) world.step();
  world.calm();
  for (let step = 0; step < 3 || !world.isAtRest; step++) {
    assert.ok(step < restLimit, 'the world does not come to rest');
    world.step();
  }
  world.assertSound();
  return world.counts;
}
