/** Counts of restarts that the API is told only grow, and are exact, wherever a start of a container is cut off. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { Fault, SimulatedCall, TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';
import { podOf } from './world.ts';

const uid = 'uid-a';
let folder: TemporaryFolder;
let world: NodeWorld;
let runs: number;

beforeEach(async () => {
  folder = await temporaryFolder('pods-');
  runs = 0;
  world = new NodeWorld(folder.path, {
    behaviours: () => {
      runs += 1;
      return runs < 3 ? { exitAfterMs: 2000, exitCode: 1 } : {};
    },
  });
  world.start();
});
afterEach(async () => {
  world.runtime.clearFaults();
  await world.stop();
  await folder[Symbol.asyncDispose]();
});

const countsTold = () =>
  (world.told.get(uid) ?? []).map(({ containerStatuses }) => containerStatuses?.[0]?.restartCount ?? 0);

/** Until the second run has ended, and the third is to come. */
async function untilItWaits(): Promise<void> {
  world.want(podOf('a'));
  await world.until('two runs to end', () => runs === 2 && world.running() === 0);
}

async function isExactAndNeverFell(): Promise<void> {
  await world.until('the third run', () => runs === 3 && world.running() === 1);
  await world.pass(2000);
  const counts = countsTold();
  assert.deepEqual(counts, counts.toSorted());
  assert.equal(counts.at(-1), 2);
  assert.deepEqual(world.runtime.violations, []);
}

const cuts: readonly [SimulatedCall, Fault['kind']][] = [
  ['createContainer', 'before'],
  ['createContainer', 'after'],
  ['startContainer', 'before'],
];

describe('counts of restarts that the API is told', () => {
  for (const [call, kind] of cuts)
    test(`the runtime goes away ${kind} it has done ${call}`, async () => {
      await untilItWaits();
      const error = new RuntimeError('unavailable', 'Connection dropped');
      world.runtime.fault({ call, kind, error });
      await isExactAndNeverFell();
    });

  for (const call of ['createContainer', 'startContainer'] as const)
    test(`the agent is cut off at ${call}`, async () => {
      await untilItWaits();
      const before = world.runtime.calls.length;
      world.runtime.fault({ call, kind: call === 'startContainer' ? 'hang' : 'hangAfter' });
      await world.until('the call', () => world.runtime.calls.slice(before).includes(call));
      await world.stop();
      const status = world.statuses.get(uid);
      world.want({ ...podOf('a'), ...(status === undefined ? {} : { status }) });
      world.start();
      await isExactAndNeverFell();
    });
});
