/** CronJobs begin Jobs at their times, over the real registry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CronJob, CronJobSpec, Job } from '../../../../../src/api/index.ts';
import { cronJobKind, jobKind, podKind } from '../../../../../src/api/index.ts';
import { workloadControllers } from '../../../../../src/apiserver/workloads/index.ts';
import type { World } from '../world.ts';
import { prepare, secondMs } from '../world.ts';

const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** Minutes since 1970 at which the clock of the test begins: 2025-01-01T00:00:00Z. */
const beginMinutes = 28_928_160;

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'image' }] } };
const cron = (spec: Partial<CronJobSpec> = {}): CronJob => ({
  metadata: { name: 'cron' },
  spec: {
    ...{ schedule: '*/5 * * * *' },
    jobTemplate: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { template } },
    ...spec,
  },
});

async function start(spec: Partial<CronJobSpec> = {}): Promise<World> {
  const world = await prepare(workloadControllers);
  await world.start();
  await world.create(cronJobKind, cron({ timeZone: 'UTC', ...spec }));
  return world;
}
const jobNames = (world: World) => world.list<Job>(jobKind).map(({ metadata }) => metadata?.name ?? '');
/** At which minutes its Jobs were due. */
const minutes = (world: World) => jobNames(world).map((name) => Number(name.slice(5)) - beginMinutes);
const statusOf = (world: World) => world.get(cronJobKind, 'cron').status;
const endAll = async (world: World, phase = 'Succeeded') => {
  for (const { metadata, status } of world.pods())
    if (!['Succeeded', 'Failed'].includes(status?.phase ?? ''))
      await world.report(metadata?.name ?? '', phase);
};
const eventsOf = (world: World, reason: string) =>
  world.events('cron').filter((event) => event.startsWith(`${reason}:`));
const set = async (world: World, spec: Partial<CronJobSpec>) => {
  await world.change(cronJobKind, 'cron', (now) => ({
    ...now,
    ...(now.spec && { spec: { ...now.spec, ...spec } }),
  }));
  await world.clock.advance(0);
};

describe('a CronJob', () => {
  test('begins a Job when it is due, named by the minute, and follows it', async () => {
    await using world = await start({ timeZone: 'Europe/Berlin' });
    await world.clock.advance(299 * secondMs);
    assert.deepEqual(jobNames(world), []);
    await world.clock.advance(2 * secondMs);
    assert.deepEqual(minutes(world), [5]);
    const name = `cron-${beginMinutes + 5}`;
    const job = world.get(jobKind, name);
    assert.deepEqual(
      [job.metadata?.labels?.a, job.metadata?.annotations],
      ['b', { c: 'd', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2025-01-01T01:05:00+01:00' }],
    );
    const { uid = '' } = world.get(cronJobKind, 'cron').metadata ?? {};
    assert.deepEqual(job.metadata?.ownerReferences, [
      {
        ...{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'cron', uid },
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    const [reference, ...others] = statusOf(world)?.active ?? [];
    assert.deepEqual(
      [reference?.name, reference?.kind, reference?.uid, others],
      [name, 'Job', job.metadata?.uid, []],
    );
    assert.equal(statusOf(world)?.lastScheduleTime, '2025-01-01T00:05:00Z');
    await endAll(world);
    assert.deepEqual(statusOf(world), {
      lastScheduleTime: '2025-01-01T00:05:00Z',
      lastSuccessfulTime: '2025-01-01T00:05:01Z',
    });
    assert.deepEqual(world.events('cron').sort(), [
      `SawCompletedJob: Saw completed job: ${name}, condition: Complete`,
      `SuccessfulCreate: Created job ${name}`,
    ]);
  });

  test('allows Jobs beside one another, forbids them, or replaces the earlier one', async () => {
    for (const [concurrencyPolicy, left] of [
      ['Allow', [5, 10, 15]],
      ['Forbid', [5]],
      ['Replace', [15]],
    ] as const) {
      await using world = await start({ concurrencyPolicy });
      await world.clock.advance(16 * minuteMs);
      assert.deepEqual(minutes(world), left, concurrencyPolicy);
      assert.equal(statusOf(world)?.active?.length, left.length);
      const deleted = eventsOf(world, 'SuccessfulDelete');
      assert.equal(deleted.length, concurrencyPolicy === 'Replace' ? 2 : 0);
    }
  });

  test('that forbids it begins the one that is due when the earlier one has ended', async () => {
    await using world = await start({ concurrencyPolicy: 'Forbid' });
    await world.clock.advance(12 * minuteMs);
    assert.deepEqual(eventsOf(world, 'JobAlreadyActive'), [
      'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid',
    ]);
    await endAll(world);
    assert.deepEqual(minutes(world), [5, 10]);
  });

  test('keeps as many Jobs that have ended as it is asked to', async () => {
    await using world = await start({ successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 0 });
    for (let count = 0; count < 4; count += 1) {
      await world.clock.advance(5 * minuteMs + secondMs);
      await endAll(world);
    }
    assert.deepEqual(minutes(world), [15, 20]);
  });

  test('that is suspended begins none, and later only the last one that was due', async () => {
    await using world = await start({ suspend: true });
    await world.clock.advance(32 * minuteMs);
    assert.deepEqual(jobNames(world), []);
    await set(world, { suspend: false });
    assert.deepEqual(minutes(world), [30]);
  });

  test('begins what was missed while nobody watched, and says when that was much', async () => {
    await using world = await start();
    await world.stop();
    await world.clock.advance(10 * hourMs + 2 * minuteMs);
    await world.start();
    assert.deepEqual(minutes(world), [600]);
    assert.deepEqual(eventsOf(world, 'TooManyMissedTimes'), [
      'TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    ]);
  });

  test('begins nothing that is too late', async () => {
    await using world = await start({ startingDeadlineSeconds: 60 });
    await world.stop();
    await world.clock.advance(10 * hourMs + 2 * minuteMs);
    await world.start();
    assert.deepEqual([jobNames(world), eventsOf(world, 'TooManyMissedTimes')], [[], []]);
    await world.clock.advance(4 * minuteMs);
    assert.deepEqual(minutes(world), [605]);
  });

  test('counts each 7 minutes from the last start, also with a deadline', async () => {
    await using world = await start({ schedule: '@every 7m', startingDeadlineSeconds: 30 });
    for (let minute = 0; minute < 22; minute += 1) {
      await world.clock.advance(minuteMs);
      await endAll(world);
    }
    assert.deepEqual(minutes(world), [7, 14, 21]);
  });

  test('begins one Job when the clock is set ahead, and none again when it is set back', async () => {
    await using world = await start();
    await world.clock.advance(6 * minuteMs);
    world.clock.setWall(2 * hourMs);
    await world.clock.advance(minuteMs);
    assert.deepEqual(minutes(world), [5, 125]);
    world.clock.setWall(-2 * hourMs);
    await world.clock.advance(2 * hourMs);
    assert.deepEqual(minutes(world), [5, 125], 'these times have been');
    await world.clock.advance(4 * minuteMs);
    assert.deepEqual(minutes(world), [5, 125, 130]);
  });

  test('finds the Job again that it made before it could write so', async () => {
    await using world = await start({ concurrencyPolicy: 'Forbid' });
    await world.clock.advance(6 * minuteMs);
    await world.stop();
    await world.change(cronJobKind, 'cron', (now) => ({ ...now, status: {} }), 'status');
    await world.clock.advance(5 * minuteMs);
    await world.start();
    assert.deepEqual(minutes(world), [5], 'it still runs');
    assert.equal(statusOf(world)?.active?.length, 1);
    assert.deepEqual(eventsOf(world, 'UnexpectedJob'), []);
  });

  test('reports a Job of its own that somebody else made', async () => {
    await using world = await start();
    const { uid = '' } = world.get(cronJobKind, 'cron').metadata ?? {};
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'cron', uid, controller: true };
    await world.create(jobKind, {
      metadata: { name: 'by-hand', ownerReferences: [owner] },
      spec: { template },
    });
    assert.deepEqual(eventsOf(world, 'UnexpectedJob'), [
      'UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand',
    ]);
    await endAll(world);
    assert.equal(statusOf(world)?.lastSuccessfulTime, '2025-01-01T00:00:00Z');
  });

  test('notices a Job that has gone', async () => {
    await using world = await start();
    await world.clock.advance(6 * minuteMs);
    const [name = ''] = jobNames(world);
    await world.remove(jobKind, name, { propagationPolicy: 'Background' });
    assert.deepEqual(eventsOf(world, 'MissingJob'), [`MissingJob: Active job went missing: ${name}`]);
    assert.equal(statusOf(world)?.active, undefined);
  });

  test('says what is wrong with its schedule', async () => {
    await using world = await start({ schedule: '0 0 31 2 *' });
    await world.clock.advance(minuteMs);
    assert.deepEqual(world.events('cron'), [
      'InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
    ]);
  });

  test('says why a Job cannot be made, and tries again', async () => {
    await using world = await start();
    const taken = `cron-${beginMinutes + 5}`;
    await world.create(jobKind, { metadata: { name: taken }, spec: { template } });
    await world.clock.advance(6 * minuteMs);
    assert.deepEqual([minutes(world), statusOf(world)?.active], [[5], undefined], "another's is left alone");
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(minutes(world), [5, 10]);
  });

  test('writes nothing while nothing changes', async () => {
    await using world = await start({ schedule: '0 2 * * *' });
    const before = world.storage.applied;
    await world.clock.advance(hourMs);
    assert.equal(world.storage.applied, before);
    await world.clock.advance(hourMs + secondMs);
    assert.deepEqual(minutes(world), [120]);
  });

  test('stands back while a controller manager renews its Lease', async () => {
    await using world = await start();
    await world.renewLease(600);
    await world.clock.advance(9 * minuteMs);
    assert.deepEqual(jobNames(world), []);
    await world.clock.advance(2 * minuteMs);
    assert.deepEqual(minutes(world), [10]);
    assert.equal(world.list(podKind).length, 1);
  });
});
