import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainPressures } from '../../../../src/agent/eviction/index.ts';
import { PressureWatch } from '../../../../src/agent/eviction/pressure-watch.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { defaultEviction, healthy } from '../node/samples.ts';
import { mi } from './samples.ts';

test('what the node is short of is told with since when, how much, and what was done for it', async () => {
  const clock = createManualClock();
  const watch = new PressureWatch();
  const eviction = {
    ...defaultEviction,
    hard: { 'pid.available': { amount: 1000, text: '1k' } },
    soft: { 'memory.available': { amount: 100 * mi, text: '100Mi' } },
    softGraceMs: { 'memory.available': 60_000 },
  };
  const look = (availableBytes: number, used: number) => {
    const memory = { capacityBytes: 1000 * mi, availableBytes };
    return watch.look({ ...healthy, memory, pids: { limit: 2000, used } }, eviction, clock.monotonicMs());
  };
  assert.deepEqual(explainPressures({ state: undefined }, clock), []);
  assert.deepEqual(explainPressures({ state: look(900 * mi, 5) }, clock), []);
  look(50 * mi, 1500);
  await clock.advance(60_000);
  clock.setWall(3_600_000);
  const last = { kind: 'memory', atMs: clock.now(), what: 'evicted pod default/a: low' } as const;
  assert.deepEqual(explainPressures({ state: look(900 * mi, 1500), last }, clock), [
    {
      condition: 'MemoryPressure',
      since: '2025-01-01T01:00:00Z',
      found: 'enough is free again; it is reported until evictionPressureTransitionPeriod is over',
      last: { time: '2025-01-01T01:01:00Z', what: 'evicted pod default/a: low' },
    },
    {
      condition: 'PIDPressure',
      since: '2025-01-01T01:00:00Z',
      found: 'pid.available is 500, 1k are to stay free',
    },
  ]);
  const [soft] = explainPressures({ state: look(50 * mi, 5) }, clock);
  assert.equal(soft?.found, 'memory.available is 50Mi, 100Mi are to stay free (soft)');
});
