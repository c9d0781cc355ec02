/** Random fates of nodes and their daemons, while what makes them is killed between writes: limits hold, and it comes to rest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { daemonSetKind, nodeKind, podKind } from '../../../../src/api/index.ts';
import type { Random } from '../../../support/repetition.ts';
import { below, chooseSeed, randomFrom, rounds } from '../../../support/repetition.ts';
import { daemonSet, isGoing, prepareNodes } from './daemon-lab.ts';
import { KilledWrites } from './killed-writes.ts';
import { secondMs } from './world.ts';

const firstSeed = chooseSeed();
const worlds = rounds({ usual: 15, full: 500 });
const steps = 60;
const names = ['a', 'b', 'c', 'd', 'e'];

type Lab = Awaited<ReturnType<typeof prepareNodes>>;

const hasEnded = ({ status }: Pod) => ['Failed', 'Succeeded'].includes(status?.phase ?? '');

const works = (pod: Pod) =>
  !isGoing(pod) &&
  pod.status?.phase === 'Running' &&
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** The node that a pod is on, or that its affinity names. */
function nodeOf({ spec }: Pod): string {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec?.nodeName || (required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '');
}

/** What the set wants, and how its pods are. */
function look(lab: Lab) {
  const nodes = lab.registry.of(nodeKind);
  const effects = new Map(
    lab.storage
      .list(nodes.prefix(''), '', 0)
      .items.map((stored) => nodes.encoding.read(stored))
      .map(({ metadata, spec }) => [metadata?.name ?? '', spec?.taints?.[0]?.effect]),
  );
  const { spec } = lab.set();
  const { maxUnavailable = 1, maxSurge = 0 } = spec?.updateStrategy?.rollingUpdate ?? {};
  const pods = lab.pods();
  const wanted = [...effects].flatMap(([name, effect]) => (effect === undefined ? [name] : []));
  return {
    ...{ effects, pods, wanted, maxUnavailable: Number(maxUnavailable), maxSurge: Number(maxSurge) },
    image: spec?.template.spec?.containers[0]?.image,
    missing: wanted.filter((name) => !pods.some((pod) => nodeOf(pod) === name && works(pod))).length,
  };
}

const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image;

function checkCreate(lab: Lab, pod: Pod): void {
  const { wanted, pods, maxSurge } = look(lab);
  const node = nodeOf(pod);
  assert.ok(wanted.includes(node), `${node} does not fit`);
  const there = pods.filter((each) => nodeOf(each) === node && !(isGoing(each) && hasEnded(each)));
  if (maxSurge === 0) assert.equal(there.length, 0, `there is a pod on ${node}`);
  const others = there.filter((each) => !isGoing(each));
  assert.ok(others.length <= 1, `there are ${others.length} pods on ${node}`);
  assert.ok(
    others.every((each) => imageOf(each) !== imageOf(pod)),
    `there is a new pod on ${node}`,
  );
}

function checkDelete(lab: Lab, name: string): void {
  const { effects, pods, wanted, image, missing, maxUnavailable, maxSurge } = look(lab);
  const pod = pods.find(({ metadata }) => metadata?.name === name);
  if (pod === undefined || !works(pod)) return;
  const node = nodeOf(pod);
  if (!effects.has(node) || effects.get(node) === 'NoExecute') return;
  const others = pods.filter((each) => each !== pod && nodeOf(each) === node && !isGoing(each));
  if (others.length > 0) {
    const isReplaced = others.some((other) => works(other));
    assert.ok(isReplaced || maxSurge === 0, 'one that works was removed for one that does not');
    return;
  }
  assert.notEqual(imageOf(pod), image, 'a pod of the newest revision was removed');
  if (!wanted.includes(node)) return; // it may stay only as it is
  assert.equal(maxSurge, 0, 'the only pod of a node was removed in an update that puts new ones beside');
  assert.ok(missing < maxUnavailable, `${missing} are missing, ${maxUnavailable} may be`);
}

/** Something happens. */
async function step(lab: Lab, random: Random, killed: KilledWrites): Promise<void> {
  const upTo = (limit: number) => below(limit, random);
  const pod = lab.pods()[upTo(Math.max(1, lab.pods().length))];
  const name = pod?.metadata?.name ?? '';
  const node = names[upTo(names.length)] ?? '';
  const exists = lab.listNodes().some((each) => each.name === node);
  const report = async (phase: string, isReady: boolean) => {
    if (pod === undefined || isGoing(pod)) return;
    if (!pod.spec?.nodeName) await lab.bind(pod);
    await lab.report(name, phase, isReady);
  };
  const surge = upTo(2);
  const rollingUpdate = { maxSurge: surge * (1 + upTo(2)), maxUnavailable: (1 - surge) * (1 + upTo(2)) };
  const happenings: readonly (() => Promise<unknown>)[] = [
    ...Array.from({ length: 4 }, () => () => lab.run()),
    () => report('Running', false),
    () => report('Failed', false),
    async () => pod && lab.remove(podKind, name),
    ...Array.from({ length: 3 }, () => () => lab.finish()),
    async () => (exists ? lab.removeNode(node) : lab.addNode(node)),
    async () => exists && lab.taint(node, ['NoSchedule', 'NoExecute'][upTo(2)] ?? ''),
    async () => exists && lab.changeNode(node, (now) => ({ ...now, spec: {} })),
    () => lab.setImage(['one', 'two', 'three'][upTo(3)] ?? ''),
    () => lab.changeSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } }),
    () => lab.clock.advance(upTo(5) * secondMs),
    async () => {
      killed.left = upTo(5);
      await lab.setImage(['four', 'five'][upTo(2)] ?? '');
      if (!exists) await lab.addNode(node);
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
  await using lab = await prepareNodes(['a', 'b', 'c']);
  await lab.create(daemonSetKind, daemonSet());
  let deletions = 0;
  const killed = new KilledWrites(lab.theirRegistry, {
    onCreate: (pod) => checkCreate(lab, pod),
    onDelete(name) {
      deletions++;
      checkDelete(lab, name);
    },
  });
  for (let count = 0; count < steps; count++) await step(lab, random, killed);
  for (let round = 0, before = -1; before !== lab.storage.applied; round++) {
    assert.ok(round < 60, 'it does not come to rest');
    before = lab.storage.applied;
    for (const pod of lab.pods()) {
      const { name = '' } = pod.metadata ?? {};
      const isLost = pod.spec?.nodeName && !lab.listNodes().some((node) => node.name === pod.spec?.nodeName);
      if (isLost)
        await lab.remove(podKind, name, { gracePeriodSeconds: 0 }); // as the collector of pods does
      else if (!isGoing(pod) && !hasEnded(pod) && !works(pod)) {
        if (!pod.spec?.nodeName) await lab.bind(pod);
        await lab.report(name, 'Running');
      }
    }
    await lab.finish();
    await lab.clock.advance(3600 * secondMs);
  }
  assert.deepEqual(killed.wrong, []);
  const { wanted, pods, image, missing, effects } = look(lab);
  assert.equal(missing, 0);
  const onWanted = pods.filter((pod) => wanted.includes(nodeOf(pod)));
  assert.deepEqual(onWanted.map(nodeOf).sort(), [...wanted].sort());
  for (const pod of onWanted) assert.equal(imageOf(pod), image);
  for (const pod of pods) assert.notEqual(effects.get(nodeOf(pod)), 'NoExecute');
  const {
    desiredNumberScheduled = 0,
    numberAvailable = 0,
    updatedNumberScheduled = 0,
  } = lab.set().status ?? {};
  const counts = [desiredNumberScheduled, numberAvailable, updatedNumberScheduled];
  assert.deepEqual(
    counts,
    Array.from(counts, () => wanted.length),
  );
  return deletions;
}

test('random fates of nodes and daemons, while the controller is killed between writes', async (context) => {
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
