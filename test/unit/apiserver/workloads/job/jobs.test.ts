/** Jobs have their pods made, counted and ended, over the real registry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jobKind, podKind } from '../../../../../src/api/index.ts';
import { workloadControllers } from '../../../../../src/apiserver/workloads/index.ts';
import { storeWith } from '../../controllers/interleaved-store.ts';
import { prepare, secondMs } from '../world.ts';
import {
  active,
  bound,
  change,
  conditionsOf,
  isTracked,
  job,
  nameOf,
  start,
  statusOf,
  template,
} from './job-world.ts';

describe('a Job', () => {
  test('runs one pod to its end, and is complete', async () => {
    await using world = await start();
    await world.create(jobKind, job());
    const [pod] = world.pods();
    assert.match(pod?.metadata?.name ?? '', /^job-[a-z0-9]{5}$/);
    assert.ok(pod && isTracked(pod));
    assert.equal(pod.metadata?.ownerReferences?.[0]?.kind, 'Job');
    assert.equal(pod.metadata?.labels?.['batch.kubernetes.io/job-name'], 'job');
    const startTime = '2025-01-01T00:00:00Z';
    assert.deepEqual(statusOf(world), {
      ...{ startTime, active: 1, terminating: 0, ready: 0, uncountedTerminatedPods: {} },
    });
    await world.report(nameOf(pod), 'Running');
    assert.equal(statusOf(world)?.ready, 1);
    await world.clock.advance(5 * secondMs);
    await world.report(nameOf(pod), 'Succeeded');
    const at = '2025-01-01T00:00:05Z';
    const times = { lastProbeTime: at, lastTransitionTime: at, status: 'True' };
    const why = {
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    };
    assert.deepEqual(statusOf(world), {
      ...{
        startTime,
        completionTime: at,
        succeeded: 1,
        terminating: 0,
        ready: 0,
        uncountedTerminatedPods: {},
      },
      conditions: [
        { type: 'SuccessCriteriaMet', ...times, ...why },
        { type: 'Complete', ...times, ...why },
      ],
    });
    assert.deepEqual(world.pods().map(isTracked), [undefined]);
    assert.deepEqual(world.events('job').sort(), [
      'Completed: Job completed',
      `SuccessfulCreate: Created pod: ${nameOf(pod)}`,
    ]);
  });

  test('has as many pods at once as it may, until enough have succeeded', async () => {
    await using world = await start();
    await world.create(jobKind, job({ parallelism: 2, completions: 3 }));
    assert.equal(active(world).length, 2);
    await world.report(active(world)[0] ?? '', 'Succeeded');
    assert.equal(active(world).length, 2);
    await world.report(active(world)[0] ?? '', 'Succeeded');
    assert.equal(active(world).length, 1);
    await world.report(active(world)[0] ?? '', 'Succeeded');
    assert.deepEqual(conditionsOf(world), [
      'SuccessCriteriaMet=True CompletionsReached',
      'Complete=True CompletionsReached',
    ]);
    assert.equal(statusOf(world)?.succeeded, 3);
  });

  test('makes a pod again after 10 and 20 seconds, and fails when too many have failed', async () => {
    await using world = await start();
    await world.create(jobKind, job({ backoffLimit: 2 }));
    for (const delay of [10, 20]) {
      await world.report(active(world)[0] ?? '', 'Failed');
      assert.deepEqual(active(world), []);
      await world.clock.advance((delay - 1) * secondMs);
      assert.deepEqual(active(world), []);
      await world.clock.advance(2 * secondMs);
      assert.equal(active(world).length, 1, `after ${delay} s`);
    }
    await world.report(active(world)[0] ?? '', 'Failed');
    assert.deepEqual(conditionsOf(world), [
      'FailureTarget=True BackoffLimitExceeded',
      'Failed=True BackoffLimitExceeded',
    ]);
    assert.equal(statusOf(world)?.failed, 3);
    assert.equal(world.pods().length, 3);
    assert.ok(
      world.events('job').includes('BackoffLimitExceeded: Job has reached the specified backoff limit'),
    );
  });

  test('remembers how often its pods failed when the controller starts again', async () => {
    await using world = await start();
    await world.create(jobKind, job());
    await world.report(active(world)[0] ?? '', 'Failed');
    await world.clock.advance(11 * secondMs);
    await world.report(active(world)[0] ?? '', 'Failed');
    await world.stop();
    await world.start();
    await world.clock.advance(18 * secondMs);
    assert.deepEqual(active(world), []);
    await world.clock.advance(3 * secondMs);
    assert.equal(active(world).length, 1);
  });

  test('ends with its pods when it takes too long', async () => {
    await using world = await start();
    await world.create(jobKind, job({ activeDeadlineSeconds: 30, parallelism: 2, completions: 2 }));
    await bound(world, active(world)[0] ?? '');
    const [onNode = ''] = world
      .pods()
      .filter(({ spec }) => spec?.nodeName)
      .map(nameOf);
    await world.clock.advance(31 * secondMs);
    assert.deepEqual(conditionsOf(world), ['FailureTarget=True DeadlineExceeded']);
    assert.deepEqual(world.podNames(), [onNode], 'what no node has is gone');
    assert.deepEqual([statusOf(world)?.active, statusOf(world)?.terminating], [undefined, 1]);
    await world.remove(podKind, onNode, { gracePeriodSeconds: 0 });
    assert.deepEqual(conditionsOf(world)[1], 'Failed=True DeadlineExceeded');
    assert.deepEqual(statusOf(world)?.failed, 2);
    assert.equal(statusOf(world)?.terminating, 0);
  });

  test('has no pods while it is suspended, and its time begins again when it is resumed', async () => {
    await using world = await start();
    await world.create(jobKind, job({ suspend: true, activeDeadlineSeconds: 60 }));
    assert.deepEqual([world.podNames(), statusOf(world)?.startTime], [[], undefined]);
    assert.deepEqual(conditionsOf(world), ['Suspended=True JobSuspended']);
    await world.clock.advance(100 * secondMs);
    await change(world, () => ({ suspend: false }));
    assert.equal(active(world).length, 1);
    assert.deepEqual(conditionsOf(world), ['Suspended=False JobResumed']);
    assert.equal(statusOf(world)?.startTime, '2025-01-01T00:01:40Z');
    await world.clock.advance(50 * secondMs);
    await change(world, () => ({ suspend: true }));
    assert.deepEqual(world.podNames(), []);
    assert.equal(statusOf(world)?.failed, undefined, 'pods that are let go do not count');
    await world.clock.advance(100 * secondMs);
    await change(world, () => ({ suspend: false }));
    assert.equal(active(world).length, 1, 'the deadline counts from the resumption');
    assert.deepEqual(
      world
        .events('job')
        .filter((event) => /^(Suspended|Resumed)/.test(event))
        .sort(),
      ['Resumed: Job resumed', 'Suspended: Job suspended'],
    );
  });

  test('with fewer pods at once lets go of those too many, uncounted', async () => {
    await using world = await start();
    await world.create(jobKind, job({ parallelism: 3, completions: 5 }));
    await world.report(active(world)[1] ?? '', 'Running');
    const running = active(world)[1];
    await change(world, () => ({ parallelism: 1 }));
    assert.deepEqual(active(world), [running]);
    assert.equal(statusOf(world)?.failed, undefined);
  });

  test('that another controller manages is left alone', async () => {
    await using world = await start();
    await world.create(jobKind, job({ managedBy: 'example.com/jobs' }));
    assert.deepEqual([world.podNames(), statusOf(world)], [[], undefined]);
  });

  test('writes nothing while nothing changes', async () => {
    await using world = await start();
    await world.create(jobKind, job({ parallelism: 2, completions: 3 }));
    await world.report(active(world)[0] ?? '', 'Failed');
    await world.clock.advance(15 * secondMs);
    const before = world.storage.applied;
    await world.clock.advance(3600 * secondMs);
    assert.equal(world.storage.applied, before);
    await world.stop();
    await world.start();
    assert.equal(world.storage.applied, before, 'nor when it starts again');
  });

  test('stands back while a controller manager renews its Lease, and then goes on', async () => {
    await using world = await start();
    await world.renewLease(15);
    await world.create(jobKind, job());
    await world.clock.advance(10 * secondMs);
    assert.deepEqual([world.podNames(), statusOf(world)], [[], undefined]);
    await world.clock.advance(8 * secondMs);
    assert.equal(active(world).length, 1);
  });
});

describe('pods of a Job', () => {
  test('that is deleted without them are let go, also when nobody watched', async () => {
    for (const isWatching of [true, false]) {
      await using world = await start();
      await world.create(jobKind, job());
      const [name = ''] = active(world);
      if (!isWatching) await world.stop();
      await world.remove(jobKind, 'job', { propagationPolicy: 'Background' });
      if (!isWatching) {
        assert.ok(isTracked(world.get(podKind, name)));
        await world.start();
      }
      assert.ok(!isTracked(world.get(podKind, name)), `watching: ${isWatching}`);
    }
  });

  test('that is being deleted are let go, and no more are made', async () => {
    await using world = await start();
    await world.create(jobKind, job({ completions: 2 }));
    await world.remove(jobKind, 'job', { propagationPolicy: 'Foreground' });
    assert.deepEqual(world.pods().map(isTracked), [undefined]);
    await world.remove(podKind, active(world)[0] ?? '');
    assert.deepEqual(world.podNames(), []);
  });

  test('whose labels it chooses itself are adopted, and released when they differ', async () => {
    await using world = await start();
    const labels = { app: 'a' };
    await world.create(podKind, { metadata: { name: 'bare', labels }, spec: template.spec });
    const own = { manualSelector: true, selector: { matchLabels: labels } };
    await world.create(jobKind, job({ ...own, template: { metadata: { labels }, ...template } }));
    assert.deepEqual(world.podNames(), ['bare']);
    assert.ok(isTracked(world.get(podKind, 'bare')), 'it is counted as its own');
    await world.change(podKind, 'bare', (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'b' } },
    }));
    await world.clock.advance(0);
    assert.ok(!isTracked(world.get(podKind, 'bare')));
    assert.equal(active(world).length, 2);
  });
});

describe('what cannot be read is no absence', () => {
  const hidden = { revision: 1, createRevision: 1, why: 'it is encrypted' };

  test('of a pod: nothing is made in its place', async () => {
    let isHidden = true;
    await using world = await prepare(workloadControllers, (storage) =>
      storeWith(storage, {
        unreadable: (prefix) =>
          isHidden && prefix.startsWith('/registry/pods/') ? [{ ...hidden, key: `${prefix}x` }] : [],
      }),
    );
    await world.start();
    await world.create(jobKind, job());
    await world.clock.advance(10 * secondMs);
    assert.deepEqual([world.podNames(), statusOf(world)], [[], undefined]);
    assert.match(world.logged(), /nothing is made in place of .*, which is there and cannot be read/);
    isHidden = false;
    await world.clock.advance(120 * secondMs);
    assert.equal(active(world).length, 1);
  });

  test('of a Job: its pods are not let go', async () => {
    let isHidden = false;
    await using world = await prepare(workloadControllers, (storage) => {
      const isJob = (key: string) => isHidden && key === '/registry/jobs/ns/job';
      return storeWith(storage, {
        lookup: (key) => (isJob(key) ? { ...hidden, key } : storage.lookup(key)),
        get: (key) => (isJob(key) ? undefined : storage.get(key)),
      });
    });
    await world.start();
    await world.create(jobKind, job());
    await world.stop();
    isHidden = true;
    await world.start();
    await world.clock.advance(60 * secondMs);
    assert.deepEqual(world.pods().map(isTracked), [true]);
  });
});

describe('a Job that has ended', () => {
  test('is deleted when its time is over', async () => {
    await using world = await start();
    await world.create(jobKind, job({ ttlSecondsAfterFinished: 60 }));
    await world.report(active(world)[0] ?? '', 'Succeeded');
    await world.clock.advance(59 * secondMs);
    assert.equal(world.get(jobKind, 'job').metadata?.deletionTimestamp, undefined);
    await world.clock.advance(2 * secondMs);
    assert.ok(world.get(jobKind, 'job').metadata?.deletionTimestamp, 'its pods go first');
  });
});
