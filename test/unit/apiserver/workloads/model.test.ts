/**
 * Random Deployments and ReplicaSets, random fates of their pods, random changes of users, and controllers that are killed at
 * any write: the limits hold at each write, and in the end the pods are those that are wanted.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseSeed, randomFrom, rounds } from '../../../support/repetition.ts';
import { liveOneStory } from './model-world.ts';

const firstSeed = chooseSeed();
const stories = rounds({ usual: 12, full: 2000 });

describe('random workloads under killed controllers', () => {
  test('have the pods that are wanted in the end, and keep their limits on the way', async (context) => {
    context.diagnostic(`NODEWARD_TEST_SEED=${firstSeed}`);
    const sum = { pods: 0, kills: 0, rollouts: 0 };
    for (let seed = firstSeed; seed < firstSeed + stories; seed++) {
      try {
        const { pods, kills, rollouts } = await liveOneStory(randomFrom(seed));
        sum.pods += pods;
        sum.kills += kills;
        sum.rollouts += rollouts;
      } catch (error) {
        throw new Error(`failed with NODEWARD_TEST_SEED=${seed}`, { cause: error });
      }
    }
    const { pods, kills, rollouts } = sum;
    context.diagnostic(
      `${stories} stories: ${pods} pods made, ${kills} controllers killed, ${rollouts} rollouts`,
    );
    assert.ok(pods > 10 * stories && kills > stories / 3 && rollouts > stories, 'much happened');
  });
});
