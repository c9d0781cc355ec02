import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { EndingPod, ShutdownPeriod } from '../../../../src/agent/shutdown/index.ts';
import { NodeShutdown, ShutdownTimes } from '../../../../src/agent/shutdown/index.ts';
import type { Logind, LogindListener, LogindState } from '../../../../src/agent/shutdown/logind.ts';
import type { MetricsRegistry } from '../../../../src/base/index.ts';
import { createMetrics, silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

interface FakePod extends EndingPod {
  /** How long it takes to end once it was told to; never: it ends with its time. */
  readonly endsAfterMs?: number;
}

const criticalPriority = 2_000_000_000;
const twoGroups: readonly ShutdownPeriod[] = [
  { priority: 0, graceSeconds: 20 },
  { priority: criticalPriority, graceSeconds: 10 },
];
const atRest: LogindState = { isShuttingDown: false, maxDelayMs: 60_000 };

type World = Awaited<ReturnType<typeof createWorld>>;

/** A node whose logind, lock and pods are here. What happens stands in `happened`, with the second at which it does. */
async function createWorld(pods: readonly FakePod[], first: readonly ShutdownPeriod[] = twoGroups) {
  await using setup = new AsyncDisposableStack();
  const clock = createManualClock();
  const startMs = clock.monotonicMs();
  const happened: string[] = [];
  const note = (what: string) =>
    void happened.push(`${Math.round((clock.monotonicMs() - startMs) / 100) / 10} ${what}`);
  const left = new Map(pods.map((pod) => [pod.uid, pod]));
  const state = { periods: first, isReported: true, listener: undefined as LogindListener | undefined };
  let raise = async (seconds: number) => seconds * 1000;
  const changed = new Set<() => void>();
  const logind: Logind = { read: async () => atRest, reload: async () => undefined, delays: async () => [] };
  const nothing = () => Promise.resolve();
  const shutdown = new NodeShutdown({
    periods: () => state.periods,
    onPeriods(listener) {
      changed.add(listener);
      return { [Symbol.dispose]: () => void changed.delete(listener) };
    },
    pods: () => [...left.values()],
    end(uid, graceSeconds) {
      if (uid === 'broken') throw new Error('a defect');
      note(`end ${uid} ${graceSeconds}`);
      const afterMs = Math.min(left.get(uid)?.endsAfterMs ?? Number.POSITIVE_INFINITY, graceSeconds * 1000);
      void clock.sleep(afterMs).then(() => left.delete(uid));
    },
    isReported: () => state.isReported,
    async follow(listener, signal) {
      state.listener = listener;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      state.listener = undefined;
    },
    createInhibitor: (onChange) => ({
      acquire() {
        note('lock');
        onChange({ isHeld: true });
      },
      async release() {
        note('unlock');
      },
    }),
    async raise(_logind, seconds) {
      note(`raise ${seconds}`);
      return await raise(seconds);
    },
    times: { restore: nothing, begin: nothing, end: nothing },
    tell: (message) => note(message),
    clock,
    log: silentLogger(),
  });
  const stop = new AbortController();
  let isReady = false;
  const running = shutdown.run(stop.signal, () => {
    isReady = true;
  });
  setup.defer(async () => {
    stop.abort();
    await running;
  });
  await clock.advance(0);
  while (state.listener === undefined && first.some(({ graceSeconds }) => graceSeconds > 0))
    await clock.advance(0);
  const resources = setup.move();
  const listener = () => {
    assert.ok(state.listener, 'logind is followed');
    return state.listener;
  };
  return {
    ...{ clock, happened, shutdown, state, left, stop },
    isReady: () => isReady,
    setRaise(next: typeof raise) {
      raise = next;
    },
    async found(what: LogindState = atRest) {
      listener().found(logind, what);
      await clock.advance(0);
    },
    async prepares(isShuttingDown: boolean) {
      listener().prepares(isShuttingDown);
      await clock.advance(0);
    },
    async lost(reason: string) {
      listener().lost(reason);
      await clock.advance(0);
    },
    async configure(periods: readonly ShutdownPeriod[]) {
      state.periods = periods;
      for (const each of changed) each();
      await clock.advance(0);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const web: FakePod = { uid: 'web', priority: 0, graceSeconds: 30, endsAfterMs: 2000 };
const stubborn: FakePod = { uid: 'stubborn', priority: 100, graceSeconds: 600 };
const network: FakePod = {
  uid: 'network',
  priority: criticalPriority + 1000,
  graceSeconds: 5,
  endsAfterMs: 1000,
};

const detected = 'Shutdown manager detected shutdown event';
const cancelled = 'Shutdown manager detected shutdown cancellation';

async function endOf(world: World): Promise<void> {
  await world.clock.advanceUntil(() => world.happened.at(-1)?.endsWith('unlock') === true, 120_000);
}

describe('a shutdown of the machine', () => {
  test('ends the pods by priority, each group in its time, and then lets go of the lock', async () => {
    await using world = await createWorld([network, web, stubborn]);
    await world.found();
    assert.equal(world.shutdown.isShuttingDown, false);
    await world.prepares(true);
    assert.equal(world.shutdown.isShuttingDown, true);
    await endOf(world);
    assert.deepEqual(world.happened, [
      ...['0 lock', `0 ${detected}`, '0 end web 20', '0 end stubborn 20'],
      ...['20 end network 5', '21 unlock'],
    ]);
    assert.equal(world.shutdown.isShuttingDown, true);
  });

  test('takes no longer than its pods', async () => {
    await using world = await createWorld([web, network]);
    await world.found();
    await world.prepares(true);
    await endOf(world);
    assert.deepEqual(world.happened.slice(-2), ['2 end network 5', '3 unlock']);
  });

  test('of a node without pods goes on at once', async () => {
    await using world = await createWorld([]);
    await world.found();
    await world.prepares(true);
    await endOf(world);
    assert.deepEqual(world.happened.at(-1), '0 unlock');
  });

  test('goes on in time though pods do not end, and tells nobody twice', async () => {
    await using world = await createWorld([]);
    for (const uid of ['a', 'b']) world.left.set(uid, { uid, priority: 0, graceSeconds: 1_000_000 });
    await world.configure([
      { priority: 0, graceSeconds: 0 },
      { priority: 10, graceSeconds: 7 },
    ]);
    world.left.set('c', { uid: 'c', priority: 11, graceSeconds: 1_000_000 });
    await world.found();
    await world.prepares(true);
    await endOf(world);
    assert.deepEqual(world.happened.slice(2), ['0 end a 0', '0 end b 0', '0 end c 7', '7 unlock']);
  });

  test('groups by priority: from each on up to the next, the lowest first, also those below', async () => {
    const at = (uid: string, priority: number): FakePod => ({
      uid,
      priority,
      graceSeconds: 30,
      endsAfterMs: 1000,
    });
    const pods = [at('high', 20_000), at('low', -5), at('middle', 10_000), at('almost', 9999)];
    const groups = [
      { priority: 10_000, graceSeconds: 10 },
      { priority: 20_000, graceSeconds: 5 },
      { priority: 100, graceSeconds: 20 },
    ];
    await using world = await createWorld(pods, groups);
    await world.found();
    await world.prepares(true);
    await endOf(world);
    assert.deepEqual(world.happened.slice(2), [
      ...['0 end low 20', '0 end almost 20', '1 end middle 10', '2 end high 5', '3 unlock'],
    ]);
  });

  test('of fractions of seconds gives pods whole ones, and has logind wait for all', async () => {
    await using world = await createWorld([stubborn], [{ priority: 0, graceSeconds: 6.5 }]);
    await world.found({ ...atRest, maxDelayMs: 5000 });
    await world.prepares(true);
    assert.deepEqual(world.happened.slice(1), ['0 raise 12', `0 ${detected}`, '0 end stubborn 6']);
  });

  test('does not wait in vain when something is wrong with the agent', async () => {
    await using world = await createWorld([{ ...web, uid: 'broken' }]);
    await world.found();
    await world.prepares(true);
    await endOf(world);
    assert.deepEqual(world.happened, ['0 lock', `0 ${detected}`, '0 unlock']);
  });

  test('a pod that appears late ends with the group that is due', async () => {
    await using world = await createWorld([stubborn, network]);
    await world.found();
    await world.prepares(true);
    await world.clock.advance(20_500);
    world.left.set('late', { uid: 'late', priority: 0, graceSeconds: 3, endsAfterMs: 100 });
    await endOf(world);
    assert.ok(world.happened.includes('20.6 end late 3'), world.happened.join('\n'));
  });

  test('that is given up leaves alone what had not its turn; the lock is held again', async () => {
    await using world = await createWorld([stubborn, network]);
    await world.found();
    await world.prepares(true);
    await world.clock.advance(5000);
    await world.prepares(false);
    assert.equal(world.shutdown.isShuttingDown, false);
    await world.clock.advance(100_000);
    assert.deepEqual(world.happened, [
      ...['0 lock', `0 ${detected}`, '0 end stubborn 20', '5 lock', `5 ${cancelled}`],
    ]);
    await world.prepares(true);
    await endOf(world);
    assert.deepEqual(world.happened.slice(5), [`105 ${detected}`, '105 end network 5', '106 unlock']);
  });

  test('that logind announces twice, or has announced before, begins once', async () => {
    await using world = await createWorld([web]);
    await world.found({ ...atRest, isShuttingDown: true });
    await world.prepares(true);
    await world.lost('the connection to D-Bus has ended');
    await world.found({ ...atRest, isShuttingDown: true });
    assert.equal(world.shutdown.isShuttingDown, true);
    await endOf(world);
    assert.deepEqual(world.happened, [`0 ${detected}`, '0 end web 20', '2 unlock']);
  });

  test('that logind knows nothing of any more, as after its restart, was given up', async () => {
    await using world = await createWorld([stubborn]);
    await world.found();
    await world.prepares(true);
    await world.lost('logind has ended');
    assert.equal(world.shutdown.isShuttingDown, true);
    await world.found();
    assert.equal(world.shutdown.isShuttingDown, false);
  });

  test('waits a bounded time until the API has what ended', async () => {
    await using world = await createWorld([web]);
    world.state.isReported = false;
    await world.found();
    await world.prepares(true);
    await endOf(world);
    assert.equal(world.happened.at(-1), '7 unlock');
  });

  test('a stop of the agent ends nothing more, and takes nothing back', async () => {
    await using world = await createWorld([stubborn, network]);
    await world.found();
    await world.prepares(true);
    world.stop.abort();
    await world.clock.advance(100_000);
    assert.equal(world.shutdown.isShuttingDown, true);
    assert.deepEqual(world.happened, ['0 lock', `0 ${detected}`, '0 end stubborn 20', '0 unlock']);
  });
});

describe('the delay', () => {
  test('is not asked for where no time is configured; a reload counts at once', async () => {
    await using world = await createWorld([web], [{ priority: 0, graceSeconds: 0 }]);
    assert.equal(world.isReady(), true);
    assert.equal(world.state.listener, undefined);
    await world.configure(twoGroups);
    await world.clock.advance(0);
    await world.found();
    assert.deepEqual(world.happened, ['0 lock']);
    await world.configure([]);
    assert.deepEqual(world.happened, ['0 lock', '0 unlock']);
    assert.equal(world.state.listener, undefined);
    assert.deepEqual(world.shutdown.remarks(), []);
  });

  test('that is shorter than the pods may take is raised, when it is found and by a reload', async () => {
    await using world = await createWorld([]);
    await world.found({ ...atRest, maxDelayMs: 5000 });
    assert.deepEqual(world.happened, ['0 lock', '0 raise 35']);
    await world.configure([{ priority: 0, graceSeconds: 34 }]);
    await world.configure([{ priority: 0, graceSeconds: 100 }]);
    assert.deepEqual(world.happened.slice(2), ['0 raise 105']);
    assert.deepEqual(world.shutdown.remarks(), []);
  });

  test('that cannot be raised is told, and held as it is', async () => {
    await using world = await createWorld([]);
    world.setRaise(() => Promise.reject(new Error('logind could not be told')));
    await world.found({ ...atRest, maxDelayMs: 5000 });
    assert.deepEqual(world.happened, ['0 lock', '0 raise 35']);
    assert.match(world.shutdown.remarks().join(), /not delayed as configured: logind could not be told/);
    await world.configure([{ priority: 0, graceSeconds: 5 }]);
    assert.deepEqual(world.shutdown.remarks(), []);
  });

  test('nothing waits long for a logind that does not answer; what is missing is told, and taken back', async () => {
    await using world = await createWorld([]);
    assert.equal(world.isReady(), false);
    let changes = 0;
    using _changes = world.shutdown.onChange(() => {
      changes += 1;
    });
    await world.clock.advance(2000);
    assert.equal(world.isReady(), true);
    await world.lost('there is no logind on this machine');
    assert.match(world.shutdown.remarks().join(), /there is no logind on this machine/);
    await world.found();
    assert.deepEqual([world.shutdown.remarks(), changes], [[], 2]);
  });
});

describe('the times of the last shutdown', () => {
  const figures = async (metrics: MetricsRegistry) =>
    [...(await metrics.metrics()).matchAll(/^kubelet_graceful_shutdown_\w+_seconds (\S+)/gm)].map(
      ([, value]) => Number(value),
    );

  test('are metrics, and outlive the process', async () => {
    await using folder = await temporaryFolder('shutdown-');
    const path = join(folder.path, 'graceful_node_shutdown_state');
    const clock = createManualClock();
    const open = () => {
      const metrics = createMetrics();
      return { metrics, times: new ShutdownTimes({ path, metrics, clock, log: silentLogger() }) };
    };
    const { metrics, times } = open();
    await times.restore();
    assert.deepEqual(await figures(metrics), [0, 0]);
    const startSeconds = clock.now() / 1000;
    await times.begin();
    assert.deepEqual(await figures(metrics), [startSeconds, 0]);
    await clock.advance(2000);
    await times.end();
    await times[Symbol.asyncDispose]();
    const kept: unknown = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(Object.keys(kept ?? {}).sort(), ['endTime', 'formatVersion', 'sha256', 'startTime']);

    const later = open();
    await later.times.restore();
    assert.deepEqual(await figures(later.metrics), [startSeconds, startSeconds + 2]);
    await later.times.begin();
    assert.deepEqual(await figures(later.metrics), [startSeconds + 2, 0]);
    await later.times[Symbol.asyncDispose]();
  });

  test('a file that is damaged is none', async () => {
    await using folder = await temporaryFolder('shutdown-');
    const path = join(folder.path, 'graceful_node_shutdown_state');
    await writeFile(path, '{"startTime": "soon"}');
    const metrics = createMetrics();
    const clock = createManualClock();
    await using times = new ShutdownTimes({ path, metrics, clock, log: silentLogger() });
    await times.restore();
    assert.deepEqual(await figures(metrics), [0, 0]);
  });
});
