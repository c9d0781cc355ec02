import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeSummaries, SummaryReader } from '../../../../src/cli/top/answers.ts';
import { readLook } from '../../../../src/cli/top/look.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { answers, figures, nowMs } from './samples.ts';

const gi = 2 ** 30;
const podOf = (name: string, of = figures()) => of.pods.find((pod) => pod.name.startsWith(name));

describe('what an agent answers of CPU and memory alone', () => {
  test('is put over what it answered of everything before', () => {
    const fs = { usedBytes: 7 };
    const pod = (uid: string, more: object, containers: object[]) => ({
      podRef: { uid },
      ...more,
      containers,
    });
    const whole = {
      node: { nodeName: 'a', cpu: 1, fs, rlimit: { curproc: 3 } },
      pods: [
        pod('u1', { cpu: 1, 'ephemeral-storage': fs }, [{ name: 'c', cpu: 1, rootfs: fs }, { name: 'gone' }]),
        pod('u2', {}, []),
      ],
    };
    const lean = {
      node: { nodeName: 'a', cpu: 2 },
      pods: [
        pod('u1', { cpu: 2 }, [
          { name: 'c', cpu: 2 },
          { name: 'd', cpu: 3 },
        ]),
        pod('u3', { cpu: 4 }, []),
      ],
    };
    assert.deepEqual(mergeSummaries(whole, lean), {
      node: { nodeName: 'a', cpu: 2, fs, rlimit: { curproc: 3 } },
      pods: [
        pod('u1', { cpu: 2, 'ephemeral-storage': fs }, [
          { name: 'c', cpu: 2, rootfs: fs },
          { name: 'd', cpu: 3 },
        ]),
        pod('u3', { cpu: 4 }, []),
      ],
    });
    assert.deepEqual(mergeSummaries({ pods: 3, node: [] }, { pods: [null] }), { node: {}, pods: [] });
  });
});

test('everything is asked for ten seconds after it was answered, however long the answer took', async () => {
  const clock = createManualClock();
  const asked: string[] = [];
  let tookMs = 12_000;
  const client = {
    server: 'https://node-a:10250',
    request: async ({ path }: { path: string }) => {
      asked.push(path);
      await clock.advance(tookMs);
      return { code: 200, body: '{}', headers: {}, retryAfterMs: undefined };
    },
  };
  const summaries = new SummaryReader(clock);
  const { signal } = new AbortController();
  await summaries.read(client, signal);
  tookMs = 2000;
  for (let looks = 0; looks < 6; looks += 1) await summaries.read(client, signal);
  const lean = '/stats/summary?only_cpu_and_memory=true';
  assert.deepEqual(asked, ['/stats/summary', lean, lean, lean, lean, lean, '/stats/summary']);
});

describe('what an agent answers', () => {
  test('is the node, compared with what is allocatable and with the hard thresholds', () => {
    const { node } = figures();
    assert.partialDeepStrictEqual(node, {
      name: 'node-a',
      cpu: { usedNanoCores: 840_000_000, allocatableNanoCores: 1_800_000_000, psi: 1.25 },
      memory: { workingSetBytes: 1.25 * gi, allocatableBytes: 3686 * 2 ** 20 },
      processes: { used: 312, max: 32_768 },
      podSlots: { used: 5, allocatable: 110 },
    });
    // all pods together have less left until their threshold than the node has
    assert.equal(node.memory.untilEvictionBytes, (1400 - 100) * 2 ** 20);
    assert.deepEqual(
      node.disks.map(({ of, untilEvictionBytes }) => [of, untilEvictionBytes]),
      [
        ['node', 25 * gi],
        ['images', -5 * gi],
      ],
    );
    assert.equal(node.processes.untilEviction, undefined, 'there is no threshold');
  });

  test('is pods that run with what is said of them, and those that wait; none that have ended', () => {
    const names = figures().pods.map(({ name }) => name);
    assert.deepEqual(names, ['web-7d9c5b6f4-x2x7q', 'db-0', 'dns-abcde', 'foreign', 'cron-28373']);
    assert.partialDeepStrictEqual(podOf('web'), {
      ...{ restarts: 3, ready: { count: 1, of: 2 }, status: 'Running' },
      containers: [
        { name: 'main', isReady: false, restarts: 3, status: 'running' },
        { name: 'proxy', isReady: true },
      ],
    });
    assert.deepEqual(podOf('foreign')?.ready, undefined);
    assert.equal(podOf('dns')?.status, 'Terminating');
    assert.equal(podOf('cron')?.memoryBytes, undefined);
  });

  test('has for a pod the share of the limit that is nearest: its own, or that of a container', () => {
    const web = podOf('web');
    assert.equal(web?.memoryLimitBytes, undefined);
    assert.equal(web?.memoryShare, 170 / 200);
    assert.equal(podOf('db')?.memoryShare, 0.5);
    assert.equal(podOf('dns')?.memoryShare, undefined);
  });

  test('says how much is throttled by two looks: nothing by one, and nothing of another container', () => {
    const look = (throttled: number, before?: ReturnType<typeof readLook>) =>
      readLook(answers(throttled), nowMs, before);
    const first = look(100);
    assert.ok(first.throttling.isFirst);
    assert.equal(podOf('web', first.figures)?.throttledShare, undefined);
    const second = look(150, first);
    assert.ok(!second.throttling.isFirst);
    assert.equal(podOf('web', second.figures)?.throttledShare, 0.5);
    assert.equal(podOf('db', second.figures)?.throttledShare, undefined, 'it has no CPU limit');
    assert.equal(podOf('web', look(150, second).figures)?.throttledShare, 0, 'it did not run');
    assert.equal(podOf('web', look(20, second).figures)?.throttledShare, undefined, 'it was made again');
  });

  test('of an agent that serves less is what is known', () => {
    const { summary } = answers();
    const { node, pods } = readLook({ summary, limits: undefined, pods: undefined }, nowMs).figures;
    assert.equal(node.memory.allocatableBytes, undefined);
    assert.deepEqual(node.pressures, []);
    assert.equal(pods.length, 4);
    assert.equal(pods[0]?.restarts, undefined);
  });

  test('may be anything', () => {
    const junk = [undefined, null, 3, 'x', [], [null], {}, { a: 1 }, Number.NaN, '9'.repeat(99)];
    const items = (value: unknown) => [
      value,
      { podRef: value, cpu: value, memory: value, containers: [value] },
    ];
    for (const value of junk) {
      const node = Object.fromEntries(
        ['cpu', 'memory', 'io', 'fs', 'runtime', 'rlimit', 'systemContainers'].map((key) => [key, value]),
      );
      const { figures: found } = readLook(
        {
          summary: { node, pods: items(value) },
          limits: {
            allocatable: { cpu: value, memory: value },
            thresholds: [value, { signal: value }],
            pressures: [value],
          },
          pods: { items: [...items(value), { uid: value, containers: [{ name: value, type: 'regular' }] }] },
        },
        nowMs,
      );
      assert.equal(found.node.disks.length, 0);
    }
  });
});
