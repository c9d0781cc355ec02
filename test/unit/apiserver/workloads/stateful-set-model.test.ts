/** Random fates of the pods of a StatefulSet, while what makes them is killed between writes: order and limits hold, and it comes to rest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { podKind } from '../../../../src/api/index.ts';
import type { Random } from '../../../support/repetition.ts';
import { below, chooseSeed, randomFrom, rounds } from '../../../support/repetition.ts';
import { KilledWrites } from './killed-writes.ts';
import type { StatefulSpec } from './stateful-lab.ts';
import { claimTemplate, isGoing, numberOf, prepareSet } from './stateful-lab.ts';
import { secondMs } from './world.ts';

const firstSeed = chooseSeed();
const worlds = rounds({ usual: 15, full: 500 });
const steps = 60;

type Lab = Awaited<ReturnType<typeof prepareSet>>;

const works = (pod: Pod | undefined) =>
  pod !== undefined &&
  !isGoing(pod) &&
  pod.status?.phase === 'Running' &&
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** What the set wants, and how its pods are. */
function look(lab: Lab) {
  const { spec } = lab.set();
  const start = spec?.ordinals?.start ?? 0;
  const wanted = Array.from({ length: spec?.replicas ?? 1 }, (_, index) => start + index);
  const pods = new Map(lab.pods().map((pod) => [numberOf(pod), pod]));
  const { partition = 0, maxUnavailable = 1 } = spec?.updateStrategy?.rollingUpdate ?? {};
  const condemned = [...pods.keys()].filter((ordinal) => !wanted.includes(ordinal));
  return {
    ...{ wanted, pods, condemned, from: start + partition, maxUnavailable: Number(maxUnavailable) },
    isOrdered: spec?.podManagementPolicy !== 'Parallel',
    missing: wanted.filter((ordinal) => !works(pods.get(ordinal))).length,
  };
}

function checkCreate(lab: Lab, pod: Pod): void {
  const { wanted, pods, isOrdered } = look(lab);
  const ordinal = numberOf(pod);
  assert.ok(wanted.includes(ordinal), `${ordinal} is not wanted`);
  assert.ok(!pods.has(ordinal), `there is a pod ${ordinal}`);
  const before = wanted.filter((other) => other < ordinal);
  if (isOrdered)
    for (const other of before)
      assert.ok(works(pods.get(other)), `${ordinal} came while ${other} did not work`);
}

function checkDelete(lab: Lab, name: string): void {
  const { wanted, pods, condemned, isOrdered, missing, from, maxUnavailable } = look(lab);
  const ordinal = Number(name.replace('web-', ''));
  const pod = pods.get(ordinal);
  if (pod === undefined || ['Failed', 'Succeeded'].includes(pod.status?.phase ?? '')) return;
  if (!wanted.includes(ordinal)) {
    if (!isOrdered) return;
    assert.equal(missing, 0, 'it got smaller while a pod did not work');
    assert.equal(Math.max(...condemned), ordinal, 'the last pod goes first');
    return;
  }
  const image = lab.set().spec?.template.spec?.containers[0]?.image;
  assert.notEqual(pod.spec?.containers[0]?.image, image, 'a pod of the newest revision was removed');
  assert.ok(ordinal >= from, 'a pod below the partition was removed');
  if (works(pod)) assert.ok(missing < maxUnavailable, `${missing} are missing, ${maxUnavailable} may be`);
}

/** Something happens. */
async function step(lab: Lab, random: Random, killed: KilledWrites): Promise<void> {
  const upTo = (limit: number) => below(limit, random);
  const pods = lab.pods();
  const pod = pods[upTo(Math.max(1, pods.length))];
  const name = pod?.metadata?.name ?? '';
  const change = (spec: Partial<StatefulSpec>) => lab.changeSet(spec);
  const rollingUpdate = { partition: upTo(2), maxUnavailable: 1 + upTo(2) };
  const happenings: readonly (() => Promise<unknown>)[] = [
    ...Array.from({ length: 4 }, () => async () => pod && !isGoing(pod) && lab.run(numberOf(pod))),
    async () => pod && !isGoing(pod) && lab.run(numberOf(pod), false),
    async () => pod && !isGoing(pod) && lab.run(numberOf(pod), false, 'Failed'),
    async () => pod && lab.remove(podKind, name),
    ...Array.from({ length: 3 }, () => async () => lab.finish()),
    () => change({ replicas: upTo(5) }),
    () => lab.setImage(['one', 'two', 'three'][upTo(3)] ?? ''),
    () => change({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } }),
    () => lab.clock.advance(upTo(5) * secondMs),
    async () => {
      killed.left = upTo(4);
      await change({ replicas: upTo(5) });
      await lab.setImage(['four', 'five'][upTo(2)] ?? '');
      await lab.stop();
      killed.left = Number.POSITIVE_INFINITY;
      await lab.start();
    },
  ];
  await happenings[upTo(happenings.length)]?.();
  await lab.settle();
}

async function live(seed: number): Promise<number> {
  const random = randomFrom(seed);
  await using lab = await prepareSet({
    replicas: 3,
    podManagementPolicy: below(2, random) === 0 ? 'OrderedReady' : 'Parallel',
    volumeClaimTemplates: [claimTemplate('data')],
  });
  let deletions = 0;
  const killed = new KilledWrites(lab.theirRegistry, {
    onCreate: (pod) => checkCreate(lab, pod),
    onDelete(name) {
      deletions++;
      checkDelete(lab, name);
    },
  });
  for (let count = 0; count < steps; count++) await step(lab, random, killed);
  await lab.changeSet({
    replicas: 3,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  });
  for (let round = 0, before = -1; before !== lab.storage.applied; round++) {
    assert.ok(round < 60, 'it does not come to rest');
    before = lab.storage.applied;
    for (const { metadata } of lab.pods()) {
      const pod = lab.pods().find((each) => each.metadata?.uid === metadata?.uid); // it may be gone by now
      if (pod !== undefined && !isGoing(pod) && !works(pod)) await lab.run(numberOf(pod));
    }
    await lab.finish();
    await lab.clock.advance(60 * secondMs);
  }
  assert.deepEqual(killed.wrong, []);
  const { pods, missing } = look(lab);
  assert.deepEqual([[...pods.keys()], missing], [[0, 1, 2], 0]);
  const { currentRevision, updateRevision, ...counts } = lab.status();
  assert.equal(currentRevision, updateRevision);
  for (const [name, count] of Object.entries(counts))
    if (name.endsWith('Replicas') || name === 'replicas') assert.equal(count, 3, name);
  for (const pod of pods.values())
    assert.equal(pod.metadata?.labels?.['controller-revision-hash'], updateRevision);
  const before = lab.storage.applied;
  await lab.clock.advance(3600 * secondMs);
  assert.equal(lab.storage.applied, before, 'it writes although nothing changes');
  return deletions;
}

test('random fates of pods, while the controller is killed between writes', async (context) => {
  context.diagnostic(`NODEWARD_TEST_SEED=${firstSeed}`);
  let deletions = 0;
  for (let seed = firstSeed; seed < firstSeed + worlds; seed++) {
    try {
      deletions += await live(seed);
    } catch (error) {
      throw new Error(`failed with NODEWARD_TEST_SEED=${seed}`, { cause: error });
    }
  }
  context.diagnostic(`${worlds} worlds, ${deletions} pods removed`);
  assert.ok(deletions > worlds, 'worlds in which little happens show little');
});
