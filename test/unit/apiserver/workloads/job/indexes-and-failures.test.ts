/** Indexed Jobs, and what follows from the way in which a pod fails, over the real registry. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JobSpec, Pod } from '../../../../../src/api/index.ts';
import { jobKind, podKind } from '../../../../../src/api/index.ts';
import type { World } from '../world.ts';
import { namespace, secondMs } from '../world.ts';
import {
  active,
  bound,
  change,
  conditionsOf,
  indexLabel,
  job,
  nameOf,
  start,
  statusOf,
} from './job-world.ts';

describe('an indexed Job', () => {
  const indexed = (spec: Partial<JobSpec> = {}) =>
    job({ completionMode: 'Indexed', completions: 3, parallelism: 3, ...spec });
  const ofIndex = (world: World, index: number) =>
    world
      .pods()
      .filter(({ metadata }) => metadata?.labels?.[indexLabel] === String(index))
      .filter(({ metadata }) => active(world).includes(metadata?.name ?? ''))
      .map(nameOf)[0] ?? '';

  test('gives each pod its index', async () => {
    await using world = await start();
    await world.create(jobKind, indexed());
    const pods = world.pods().sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
    assert.deepEqual(
      pods.map(({ metadata, spec }) => [
        ...[metadata?.annotations?.[indexLabel], metadata?.labels?.[indexLabel], spec?.hostname],
        ...[
          spec?.containers[0]?.env?.[0]?.name,
          spec?.containers[0]?.env?.[0]?.valueFrom?.fieldRef?.fieldPath,
        ],
      ]),
      ['0', '1', '2'].map((index) => [
        ...[index, index, `job-${index}`],
        ...['JOB_COMPLETION_INDEX', `metadata.labels['${indexLabel}']`],
      ]),
    );
    assert.match(nameOf(pods[2] ?? {}), /^job-2-[a-z0-9]{5}$/);
    await world.report(ofIndex(world, 2), 'Succeeded');
    await world.report(ofIndex(world, 0), 'Succeeded');
    assert.equal(statusOf(world)?.completedIndexes, '0,2');
    await world.report(ofIndex(world, 1), 'Succeeded');
    assert.deepEqual([statusOf(world)?.completedIndexes, statusOf(world)?.succeeded], ['0-2', 3]);
    assert.equal(conditionsOf(world)[1], 'Complete=True CompletionsReached');
  });

  test('tries each index again by itself, and fails when one has failed too often', async () => {
    await using world = await start();
    await world.create(jobKind, indexed({ backoffLimitPerIndex: 1 }));
    await world.report(ofIndex(world, 1), 'Failed');
    assert.equal(ofIndex(world, 1), '');
    await world.clock.advance(11 * secondMs);
    const second = world.get(podKind, ofIndex(world, 1));
    assert.equal(second.metadata?.annotations?.['batch.kubernetes.io/job-index-failure-count'], '1');
    assert.equal(statusOf(world)?.failed, 1);
    await world.report(nameOf(second), 'Failed');
    assert.equal(statusOf(world)?.failedIndexes, '1');
    for (const index of [0, 2]) await world.report(ofIndex(world, index), 'Succeeded');
    assert.equal(conditionsOf(world)[1], 'Failed=True FailedIndexes');
    assert.deepEqual([statusOf(world)?.completedIndexes, statusOf(world)?.failed], ['0,2', 2]);
  });

  test('ends early when its rule for success is met, and the rest is not counted', async () => {
    await using world = await start();
    const successPolicy = { rules: [{ succeededIndexes: '0,2', succeededCount: 1 }] };
    await world.create(jobKind, indexed({ successPolicy }));
    await world.report(ofIndex(world, 1), 'Succeeded');
    assert.deepEqual(conditionsOf(world), []);
    await world.report(ofIndex(world, 2), 'Succeeded');
    assert.deepEqual(conditionsOf(world), [
      'SuccessCriteriaMet=True SuccessPolicy',
      'Complete=True SuccessPolicy',
    ]);
    assert.deepEqual([statusOf(world)?.succeeded, statusOf(world)?.failed], [2, undefined]);
    assert.equal(statusOf(world)?.conditions?.[1]?.message, 'Matched rules at index 0');
  });

  test('with fewer indexes lets go of those that it has not any more', async () => {
    await using world = await start();
    await world.create(jobKind, indexed());
    await change(world, () => ({ completions: 2, parallelism: 2 }));
    assert.deepEqual(
      active(world)
        .map((name) => name.slice(0, 5))
        .sort(),
      ['job-0', 'job-1'],
    );
  });
});

describe('how a pod of a Job fails', () => {
  const ended = async (world: World, name: string, exitCode: number) => {
    const state = { terminated: { exitCode, finishedAt: '2025-01-01T00:00:00Z' } };
    const containerStatuses = [
      { name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state },
    ];
    await world.change(
      podKind,
      name,
      (pod) => ({ ...pod, status: { phase: 'Failed', containerStatuses } }),
      'status',
    );
    await world.clock.advance(0);
  };
  const rules = [
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
  ];

  test('may fail the Job at once', async () => {
    await using world = await start();
    await world.create(jobKind, job({ parallelism: 2, completions: 2, podFailurePolicy: { rules } }));
    const [name = ''] = active(world);
    await ended(world, name, 42);
    const { conditions = [] } = statusOf(world) ?? {};
    const message = `Container main for pod ${namespace}/${name} failed with exit code 42 matching FailJob rule at index 0`;
    assert.deepEqual(
      conditions.map((each) => [each.type, each.reason, each.message]),
      ['FailureTarget', 'Failed'].map((type) => [type, 'PodFailurePolicy', message]),
    );
    assert.deepEqual(active(world), []);
    assert.equal(statusOf(world)?.failed, 2);
  });

  test('may not count', async () => {
    await using world = await start();
    await world.create(jobKind, job({ backoffLimit: 0, podFailurePolicy: { rules } }));
    const disrupted = { type: 'DisruptionTarget', status: 'True' };
    await world.change(
      ...([
        podKind,
        active(world)[0] ?? '',
        (pod: Pod) => ({ ...pod, status: { phase: 'Failed', conditions: [disrupted] } }),
      ] as const),
      'status',
    );
    await world.clock.advance(11 * secondMs);
    assert.equal(active(world).length, 1);
    assert.deepEqual([conditionsOf(world), statusOf(world)?.failed], [[], undefined]);
  });

  test('may be waited for before it is replaced', async () => {
    await using world = await start();
    await world.create(jobKind, job({ podReplacementPolicy: 'Failed' }));
    const [name = ''] = active(world);
    await bound(world, name);
    await world.remove(podKind, name);
    await world.clock.advance(60 * secondMs);
    assert.deepEqual([active(world), statusOf(world)?.terminating], [[], 1]);
    await world.report(name, 'Failed');
    await world.clock.advance(11 * secondMs);
    assert.equal(active(world).length, 1);
    assert.equal(statusOf(world)?.failed, 1);
  });

  test('is known of a pod that went before any node had it', async () => {
    await using world = await start();
    await world.create(jobKind, job({ podReplacementPolicy: 'Failed' }));
    await world.remove(podKind, active(world)[0] ?? '');
    await world.clock.advance(11 * secondMs);
    assert.deepEqual([active(world).length, statusOf(world)?.failed], [1, 1]);
  });
});
