import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lintMetrics } from '../../../support/lint-metrics.ts';
import { commandOf, ProberWorld } from './prober-world.ts';

const readiness = { readinessProbe: commandOf('readiness') };
const liveness = { livenessProbe: commandOf('liveness') };
const startup = { startupProbe: commandOf('startup') };

describe('a container with probes', () => {
  test('is ready as soon as its first probe succeeds, and is probed once in each period', async () => {
    await using world = new ProberWorld();
    assert.equal(world.follow(readiness)?.readiness, undefined);
    await world.clock.advance(1);
    assert.deepEqual(world.changed, ['p1']);
    assert.equal(world.follow(readiness)?.readiness, true);
    await world.clock.advance(60_000);
    const times = world.timesOf('readiness');
    assert.equal(times[0], 0);
    const gaps = times.slice(2).map((atMs, index) => atMs - (times[index + 1] ?? 0));
    assert.deepEqual(new Set(gaps.map(Math.round)), new Set([10_000]));
    assert.equal(world.events.length, 0);
  });

  test('is unready after three failures in a row, and ready after one success', async () => {
    await using world = new ProberWorld();
    world.follow(readiness);
    await world.clock.advance(1);
    let isWell = false;
    world.answer = () => (isWell ? 'ok' : 'fails');
    await world.clock.advanceUntil(() => world.events.length === 2, 60_000);
    assert.equal(world.follow(readiness)?.readiness, true);
    await world.clock.advanceUntil(() => world.events.length === 3, 60_000);
    assert.equal(world.follow(readiness)?.readiness, false);
    assert.deepEqual(
      new Set(world.events),
      new Set(['main Unhealthy: Readiness probe failed: readiness says no']),
    );
    const wait = {
      reason: 'ContainerNotReady',
      message: 'readiness probe has not succeeded: readiness says no, 3 times in a row',
    };
    assert.deepEqual([...world.prober.waitsOf('p1')], [['main', wait]]);
    isWell = true;
    await world.clock.advance(10_000);
    assert.equal(world.follow(readiness)?.readiness, true);
    assert.deepEqual([...world.prober.waitsOf('p1')], []);
  });

  test('needs as many successes in a row as its probe says', async () => {
    await using world = new ProberWorld();
    const spec = { readinessProbe: { ...commandOf('readiness'), successThreshold: 3 } };
    world.follow(spec);
    await world.clock.advanceUntil(() => world.probed.length === 2, 60_000);
    assert.equal(world.follow(spec)?.readiness, undefined);
    await world.clock.advanceUntil(() => world.probed.length === 3, 60_000);
    assert.equal(world.follow(spec)?.readiness, true);
  });

  test('is not probed before its delay, counted from its start', async () => {
    await using world = new ProberWorld();
    world.follow({ readinessProbe: { ...commandOf('readiness'), initialDelaySeconds: 30 } });
    await world.clock.advance(29_999);
    assert.equal(world.probed.length, 0);
    await world.clock.advance(1);
    assert.equal(world.probed.length, 1);
  });

  test('keeps its delay when the wall clock is set', async () => {
    await using world = new ProberWorld();
    world.follow({ readinessProbe: { ...commandOf('readiness'), initialDelaySeconds: 30 } });
    world.clock.setWall(3_600_000);
    await world.clock.advance(29_000);
    assert.equal(world.probed.length, 0);
  });

  test('that has not started is asked for nothing else, and fails for good after its tries', async () => {
    await using world = new ProberWorld();
    const all = { ...startup, ...liveness, ...readiness };
    const spec = {
      ...all,
      startupProbe: { ...commandOf('startup'), failureThreshold: 2, terminationGracePeriodSeconds: 7 },
    };
    world.answer = () => 'fails';
    world.follow(spec);
    await world.clock.advanceUntil(() => world.events.length === 1, 60_000);
    const message = 'startup probe has not succeeded: startup says no, 1 of 2 tries';
    assert.deepEqual([...world.prober.waitsOf('p1')], [['main', { reason: 'ContainerNotStarted', message }]]);
    await world.clock.advance(60_000);
    assert.deepEqual(new Set(world.probed.map(({ kind }) => kind)), new Set(['startup']));
    assert.equal(world.probed.length, 2);
    const { startup: verdict, graceSeconds } = world.follow(spec) ?? {};
    assert.deepEqual([verdict, graceSeconds], [false, 7]);
    // the next container begins again
    world.answer = () => 'ok';
    assert.equal(world.follow(spec, { id: 'c2' })?.startup, undefined);
    await world.clock.advance(60_000);
    const { startup: later, readiness: ready, liveness: alive } = world.follow(spec, { id: 'c2' }) ?? {};
    assert.deepEqual([later, ready, alive], [true, true, true]);
    assert.equal(world.timesOf('startup', 'c2').length, 1);
    assert.ok(world.timesOf('liveness', 'c2').length >= 4);
  });

  test('is asked for its readiness as soon as it has started', async () => {
    await using world = new ProberWorld();
    world.follow({ ...startup, ...readiness });
    await world.clock.advance(11_000);
    assert.deepEqual(world.timesOf('readiness')[0], world.timesOf('startup')[0]);
  });

  test('is not probed for its liveness after that has failed, and goes on to be probed for its readiness', async () => {
    await using world = new ProberWorld();
    world.answer = (kind) => (kind === 'liveness' ? 'fails' : 'ok');
    const spec = { ...liveness, ...readiness };
    world.follow(spec);
    await world.clock.advance(100_000);
    assert.equal(world.timesOf('liveness').length, 3);
    assert.ok(world.timesOf('readiness').length > 9);
    assert.equal(world.follow(spec)?.liveness, false);
  });

  test('that ends is probed for its readiness only', async () => {
    await using world = new ProberWorld();
    const spec = { ...liveness, ...readiness };
    world.follow(spec);
    await world.clock.advance(20_000);
    world.answer = () => 'fails';
    world.follow(spec, { isEnding: true });
    const before = world.timesOf('liveness').length;
    await world.clock.advance(60_000);
    assert.equal(world.timesOf('liveness').length, before);
    assert.equal(world.follow(spec, { isEnding: true })?.readiness, false);
    assert.deepEqual([...world.prober.waitsOf('p1')], []);
  });

  test('is not probed any more when it has ended, nor when its pod is forgotten', async () => {
    await using world = new ProberWorld();
    world.follow(readiness);
    await world.clock.advance(1);
    world.follow(readiness, { id: '' });
    world.follow(readiness, { id: 'c2' });
    await world.clock.advance(1);
    assert.deepEqual(lintMetrics(await world.metrics.registry.metrics()), []);
    assert.match(
      await world.metrics.registry.metrics(),
      /prober_probe_total\{.*pod_uid="p1",result="successful"\} 2/,
    );
    const count = world.probed.length;
    world.follow(readiness, { id: '' });
    world.prober.forget('p1');
    assert.doesNotMatch(await world.metrics.registry.metrics(), /p1/);
    await world.clock.advance(60_000);
    assert.equal(world.probed.length, count);
  });
});

describe('a probe that cannot be run', () => {
  test('changes nothing, and is told apart from one that fails', async () => {
    await using world = new ProberWorld();
    const spec = { ...liveness, ...readiness };
    world.follow(spec);
    await world.clock.advance(11_000);
    world.answer = () => 'absent';
    await world.clock.advance(100_000);
    const { liveness: alive, readiness: ready } = world.follow(spec) ?? {};
    assert.deepEqual([alive, ready], [true, true]);
    assert.ok(
      world.events.includes(
        'main Unhealthy: Liveness probe errored and resulted in unknown state: no such command',
      ),
    );
    const metrics = await world.metrics.registry.metrics();
    assert.match(metrics, /prober_probe_total\{.*probe_type="Liveness",.*result="unknown"\} 10/);
  });

  test('is what an unready container waits for', async () => {
    await using world = new ProberWorld();
    world.answer = () => 'absent';
    world.follow(readiness);
    await world.clock.advance(1);
    const message = 'the readiness probe cannot be run: no such command';
    assert.deepEqual([...world.prober.waitsOf('p1')], [['main', { reason: 'ContainerNotReady', message }]]);
  });
});

describe('after a restart of the agent', () => {
  for (const isReady of [true, false])
    test(`a container stays ${isReady ? 'ready' : 'unready'} until a probe says otherwise`, async () => {
      await using world = new ProberWorld();
      const known = { isStarted: true, isReady };
      const spec = { ...startup, ...readiness };
      const { startup: isStarted, readiness: ready } = world.follow(spec, { known }) ?? {};
      assert.deepEqual([isStarted, ready], [true, isReady]);
      await world.clock.advance(100_000);
      assert.equal(world.timesOf('startup').length, 0);
      assert.equal(world.follow(spec)?.readiness, true);
    });

  test('a container that had not started is probed for that', async () => {
    await using world = new ProberWorld();
    const spec = { ...startup, ...readiness };
    const known = { isStarted: false, isReady: false };
    assert.equal(world.follow(spec, { known })?.startup, undefined);
    await world.clock.advance(11_000);
    assert.equal(world.follow(spec)?.startup, true);
  });
});

describe('a container that is being checkpointed', () => {
  test('is not probed, and nothing of that time counts', async () => {
    await using world = new ProberWorld();
    world.follow({ livenessProbe: { ...commandOf('liveness'), failureThreshold: 1, timeoutSeconds: 30 } });
    world.answer = () => 'hangs';
    await world.clock.advanceUntil(() => world.probed.length === 1, 20_000);
    world.freeze('c1');
    await world.clock.advance(300_000);
    assert.equal(world.probed.length, 1);
    world.frozen.clear();
    world.answer = () => 'ok';
    await world.clock.advance(1000);
    assert.equal(world.probed.length, 2);
    assert.deepEqual(world.events, []);
  });

  test('holds up no other', async () => {
    await using world = new ProberWorld();
    world.follow(liveness);
    world.follow(liveness, { id: 'c2', uid: 'p2' });
    world.freeze('c1');
    await world.clock.advance(60_000);
    assert.equal(world.timesOf('liveness', 'c1').length, 0);
    assert.equal(world.timesOf('liveness', 'c2').length, 6);
  });
});

describe('110 pods with three probes each', () => {
  const spec = { ...startup, ...readiness, ...liveness };
  const known = { isStarted: true, isReady: true };

  /** How many probes fall into the fullest 100 ms from `fromMs` on. */
  function maxAtOnce({ probed }: ProberWorld, fromMs: number): number {
    const counts = new Map<number, number>();
    for (const { atMs } of probed) {
      if (atMs < fromMs) continue;
      const slot = Math.floor(atMs / 100);
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  }

  async function crowd(world: ProberWorld): Promise<void> {
    for (let index = 0; index < 110; index += 1)
      world.follow(spec, { id: `c${index}`, uid: `p${index}`, known });
    await world.clock.advance(30_000);
  }

  test('are spread over the period when the agent starts', async () => {
    await using world = new ProberWorld();
    await crowd(world);
    // 220 probes in 10 s: 2.2 in 100 ms, were they spread as evenly as can be
    assert.ok(maxAtOnce(world, 0) <= 5, `${maxAtOnce(world, 0)} at once`);
    assert.equal(world.probed.length, 660);
  });

  test('stay spread, and none fails, when the process was stopped for a minute', async () => {
    await using world = new ProberWorld();
    await crowd(world);
    await world.clock.stall(60_000);
    const fromMs = world.clock.monotonicMs();
    await world.clock.advance(30_000);
    assert.ok(maxAtOnce(world, fromMs) <= 6, `${maxAtOnce(world, fromMs)} at once`);
    assert.equal(world.probed.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 30_000).length, 660);
    assert.deepEqual(world.events, []);
  });
});
