import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EndingPod, ShutdownPeriod } from '../../../../src/agent/shutdown/index.ts';
import { endGroups } from '../../../../src/agent/shutdown/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

interface SlowPod extends EndingPod {
  /** How long after it was told to end it is gone; Infinity: it cannot even be killed. */
  readonly goneAfterMs: number;
}

/** Between two looks at what is left, for each of the groups. */
const lookMs = 300;

const groups: readonly ShutdownPeriod[] = [
  { priority: 0, graceSeconds: 20 },
  { priority: 1000, graceSeconds: 10 },
  { priority: 2000, graceSeconds: 5 },
];

/** Ends them, and returns when each was told to and with which grace, when that was over, and how many were left. */
async function endAll(pods: readonly SlowPod[]) {
  const clock = createManualClock();
  const startMs = clock.monotonicMs();
  const atMs = () => clock.monotonicMs() - startMs;
  const left = new Map(pods.map((pod) => [pod.uid, pod]));
  const told: { readonly uid: string; readonly atMs: number; readonly graceSeconds: number }[] = [];
  const goneMs = new Map<string, number>();
  let over: { readonly left: number; readonly atMs: number } | undefined;
  const options = {
    clock,
    pods: () => [...left.values()],
    end(uid: string, graceSeconds: number) {
      told.push({ uid, atMs: atMs(), graceSeconds });
      const { goneAfterMs = 0 } = left.get(uid) ?? {};
      if (!Number.isFinite(goneAfterMs)) return;
      void clock.sleep(goneAfterMs).then(() => {
        left.delete(uid);
        goneMs.set(uid, atMs());
      });
    },
  };
  const ending = endGroups(options, groups, new AbortController().signal).then((count) => {
    over = { left: count, atMs: atMs() };
  });
  await clock.advanceUntil(() => over !== undefined, 120_000);
  await ending;
  return { told, goneMs, over };
}

const pod = (uid: string, priority: number, goneAfterMs: number): SlowPod => ({
  ...{ uid, priority, goneAfterMs },
  graceSeconds: 600,
});

describe('the groups of a shutdown', () => {
  test('a pod that does not go in its time holds the next group up until then, and no longer', async () => {
    const never = Number.POSITIVE_INFINITY;
    const { told, over } = await endAll([
      pod('stuck', 0, never),
      pod('next', 1000, 1000),
      pod('last', 2000, 1000),
    ]);
    assert.deepEqual(told, [
      { uid: 'stuck', atMs: 0, graceSeconds: 20 },
      { uid: 'next', atMs: 20_000, graceSeconds: 10 },
      { uid: 'last', atMs: 30_000, graceSeconds: 5 },
    ]);
    assert.deepEqual(
      over,
      { left: 1, atMs: 35_000 },
      'what is left of an earlier group uses up the later times',
    );
  });

  test('one that is killed at its deadline goes on ending beside the next, which then waits for it no more than for its own', async () => {
    const { told, over } = await endAll([pod('killed', 0, 20_300), pod('next', 1000, 100)]);
    assert.deepEqual(
      told.map(({ atMs }) => atMs),
      [0, 20_000],
    );
    assert.deepEqual(over, { left: 0, atMs: 20_300 });
  });

  test('however pods end: none before all of the groups before are gone or have had their time, and none twice', async () => {
    let seed = Number(process.env['NODEWARD_TEST_SEED'] ?? Date.now() % 2 ** 31);
    const first = seed;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 50; round += 1) {
      const pods = Array.from({ length: 1 + random(6) }, (_, index) =>
        pod(`p${index}`, random(3) * 1000, random(4) === 0 ? Number.POSITIVE_INFINITY : random(300) * 100),
      );
      const { told, goneMs, over } = await endAll(pods);
      const what = `seed ${first}, round ${round}: ${JSON.stringify({ pods, told, over })}`;
      assert.equal(new Set(told.map(({ uid }) => uid)).size, pods.length, what);
      assert.equal(told.length, pods.length, what);
      let dueMs = 0;
      for (const { priority, graceSeconds } of groups) {
        const own = told.filter(({ uid }) =>
          pods.some((each) => each.uid === uid && each.priority === priority),
        );
        for (const { uid, atMs } of own)
          assert.ok(atMs >= dueMs && atMs <= dueMs + lookMs, `${what}: ${uid} was due at ${dueMs}`);
        const begunMs = own[0]?.atMs ?? dueMs;
        const upTo = pods.filter((each) => each.priority <= priority);
        const freeMs = Math.max(
          begunMs,
          ...upTo.map(({ uid }) => goneMs.get(uid) ?? Number.POSITIVE_INFINITY),
        );
        dueMs = Math.min(freeMs, begunMs + graceSeconds * 1000);
      }
      assert.ok((over?.atMs ?? 0) <= 35_000, what);
    }
  });
});
