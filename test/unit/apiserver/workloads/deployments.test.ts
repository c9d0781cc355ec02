/** Deployments: rollouts, revisions, what their status says. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Deployment, DeploymentSpec, Pod, ReplicaSet } from '../../../../src/api/index.ts';
import { deploymentKind, podKind, replicaSetKind, StatusError } from '../../../../src/api/index.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import type { World } from './world.ts';
import { prepare, secondMs } from './world.ts';

type Change = Partial<Omit<DeploymentSpec, 'selector' | 'template'>> & { image?: string };

const template = (image: string): DeploymentSpec['template'] => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }], nodeName: 'node' },
});

async function start(change: Change = {}): Promise<World> {
  const world = await prepare(workloadControllers);
  await world.start();
  const { image = 'one', ...spec } = change;
  const metadata = { name: 'web', annotations: { 'kubernetes.io/change-cause': 'first' } };
  await world.create(deploymentKind, {
    metadata,
    spec: { replicas: 4, selector: { matchLabels: { app: 'web' } }, template: template(image), ...spec },
  });
  return world;
}

async function update(world: World, { image, ...change }: Change, annotations = {}): Promise<void> {
  await world.change(deploymentKind, 'web', (now) => ({
    ...now,
    metadata: { ...now.metadata, annotations: { ...now.metadata?.annotations, ...annotations } },
    ...(now.spec && {
      spec: { ...now.spec, ...change, ...(image === undefined ? {} : { template: template(image) }) },
    }),
  }));
  await world.clock.advance(0);
}

const read = (world: World): Deployment => world.get(deploymentKind, 'web');
const condition = (world: World, type: string) => {
  const { status, reason, message } =
    read(world).status?.conditions?.find((each) => each.type === type) ?? {};
  return status === undefined ? 'none' : `${status} ${reason}: ${message}`;
};
const imageOf = ({ spec }: Pod) => spec?.containers?.[0]?.image ?? '';
const active = (world: World) =>
  world.pods().filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
const countOf = (world: World, image: string) => active(world).filter((pod) => imageOf(pod) === image).length;
const setOf = (world: World, image: string): ReplicaSet => {
  const found = world
    .list(replicaSetKind)
    .find(({ spec }) => spec?.template?.spec?.containers?.[0]?.image === image);
  assert.ok(found, `a ReplicaSet for ${image}`);
  return found;
};
const annotation = ({ metadata }: ReplicaSet | Deployment, name: string) =>
  metadata?.annotations?.[`deployment.kubernetes.io/${name}`];
const revisions = (world: World) =>
  Object.fromEntries(
    world
      .list(replicaSetKind)
      .map((set) => [
        set.spec?.template?.spec?.containers?.[0]?.image ?? '',
        `${annotation(set, 'revision')}${annotation(set, 'revision-history') ? ` after ${annotation(set, 'revision-history')}` : ''}`,
      ]),
  );

/** What an agent does: pods become ready, and those that are deleted end. Returns whether there was anything to do. */
async function runPods(world: World, isGood: (pod: Pod) => boolean = () => true): Promise<boolean> {
  let isBusy = false;
  for (const pod of world.pods()) {
    const { name = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp !== undefined) {
      await world.remove(podKind, name, { gracePeriodSeconds: 0 });
      isBusy = true;
    } else if (pod.status?.phase !== 'Running' && isGood(pod)) {
      await world.report(name, 'Running');
      isBusy = true;
    }
  }
  return isBusy;
}

async function settle(world: World, isGood?: (pod: Pod) => boolean, check?: () => void): Promise<void> {
  for (let round = 0; round < 100; round++) {
    check?.();
    if (!(await runPods(world, isGood))) return;
  }
  assert.fail('it does not come to rest');
}

describe('a Deployment', () => {
  test('makes a ReplicaSet with the hash of its template, and says how far it is', async () => {
    await using world = await start();
    const [set, ...others] = world.list(replicaSetKind);
    assert.deepEqual(others, []);
    const { name = '', labels, annotations } = set?.metadata ?? {};
    const hash = labels?.['pod-template-hash'] ?? '';
    assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{6,10}$/);
    assert.equal(name, `web-${hash}`);
    assert.deepEqual(labels, { app: 'web', 'pod-template-hash': hash });
    assert.deepEqual(annotations, {
      'kubernetes.io/change-cause': 'first',
      'deployment.kubernetes.io/revision': '1',
      'deployment.kubernetes.io/desired-replicas': '4',
      'deployment.kubernetes.io/max-replicas': '5',
    });
    assert.deepEqual(set?.spec?.selector.matchLabels, { app: 'web', 'pod-template-hash': hash });
    assert.equal(annotation(read(world), 'revision'), '1');
    assert.deepEqual(world.events('web'), [`ScalingReplicaSet: Scaled up replica set ${name} from 0 to 4`]);
    assert.equal(
      condition(world, 'Progressing'),
      `True ReplicaSetUpdated: ReplicaSet "${name}" is progressing.`,
    );
    assert.equal(
      condition(world, 'Available'),
      'False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
    );
    const { conditions: _first, ...waiting } = read(world).status ?? {};
    assert.deepEqual(waiting, {
      ...{ observedGeneration: 1, replicas: 4, updatedReplicas: 4, unavailableReplicas: 4 },
      terminatingReplicas: 0,
    });
    await settle(world);
    assert.equal(
      condition(world, 'Progressing'),
      `True NewReplicaSetAvailable: ReplicaSet "${name}" has successfully progressed.`,
    );
    assert.equal(
      condition(world, 'Available'),
      'True MinimumReplicasAvailable: Deployment has minimum availability.',
    );
    const { conditions: _second, ...done } = read(world).status ?? {};
    assert.deepEqual(done, {
      ...{ observedGeneration: 1, replicas: 4, updatedReplicas: 4, readyReplicas: 4, availableReplicas: 4 },
      terminatingReplicas: 0,
    });
    const before = world.storage.applied;
    await world.clock.advance(3600 * secondMs);
    assert.equal(world.storage.applied, before, 'quiet when nothing changes');
    const { resourceVersion } = read(world).metadata ?? {};
    await world.change(replicaSetKind, name, (now) => ({
      ...now,
      metadata: { ...now.metadata, annotations: { ...now.metadata?.annotations, note: 'looked at' } },
    }));
    await world.clock.advance(secondMs);
    assert.equal(read(world).metadata?.resourceVersion, resourceVersion, 'looked at again, and as it was');
  });

  test('replaces its pods step by step, within its limits', async () => {
    await using world = await start();
    await settle(world);
    await update(world, { image: 'two' });
    await settle(world, undefined, () => {
      const ready = active(world).filter(({ status }) => status?.phase === 'Running').length;
      assert.ok(active(world).length <= 5 && ready >= 3, `${active(world).length} pods, ${ready} ready`);
    });
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [0, 4]);
    assert.deepEqual(revisions(world), { one: '1', two: '2' });
    assert.equal(annotation(read(world), 'revision'), '2');
    const [older, newer] = [setOf(world, 'one'), setOf(world, 'two')].map(({ metadata }) => metadata?.name);
    assert.deepEqual(
      world.events('web').sort(),
      [
        `up replica set ${older} from 0 to 4`,
        ...['4 to 3', '3 to 2', '2 to 1', '1 to 0'].map((step) => `down replica set ${older} from ${step}`),
        ...['0 to 1', '1 to 2', '2 to 3', '3 to 4'].map((step) => `up replica set ${newer} from ${step}`),
      ]
        .map((text) => `ScalingReplicaSet: Scaled ${text}`)
        .sort(),
    );
  });

  test('with Recreate ends all old pods before it makes new ones', async () => {
    await using world = await start({ strategy: { type: 'Recreate' } });
    await settle(world);
    await update(world, { image: 'two' });
    assert.equal(world.pods().length, 4, 'they are ending');
    assert.equal(world.list(replicaSetKind).length, 1);
    const [first, ...others] = world.podNames();
    for (const name of others) await world.remove(podKind, name, { gracePeriodSeconds: 0 });
    assert.equal(world.list(replicaSetKind).length, 1, 'one runs still');
    await world.remove(podKind, first ?? '', { gracePeriodSeconds: 0 });
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [0, 4]);
    await settle(world);
    assert.match(condition(world, 'Progressing'), /^True NewReplicaSetAvailable/);
  });

  test('goes back to an earlier revision, which gets the highest number', async () => {
    await using world = await start();
    await settle(world);
    await update(world, { image: 'two' }, { 'kubernetes.io/change-cause': 'second' });
    await settle(world);
    await update(world, { image: 'one' });
    await settle(world);
    assert.deepEqual(revisions(world), { one: '3 after 1', two: '2' });
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [4, 0]);
    await update(world, { image: 'two' });
    await settle(world);
    await update(world, { image: 'one' });
    await settle(world);
    assert.deepEqual(revisions(world), { one: '5 after 1,3', two: '4 after 2' });
  });

  test('keeps as many old revisions as it is told', async () => {
    await using world = await start({ revisionHistoryLimit: 1, replicas: 1 });
    for (const image of ['two', 'three', 'four']) {
      await settle(world);
      await update(world, { image });
    }
    await settle(world);
    assert.deepEqual(revisions(world), { three: '3', four: '4' });
  });

  test('that is paused changes nothing but its size, and goes on when it is resumed', async () => {
    await using world = await start();
    await settle(world);
    await update(world, { paused: true, image: 'two' });
    assert.equal(condition(world, 'Progressing'), 'Unknown DeploymentPaused: Deployment is paused');
    assert.equal(world.list(replicaSetKind).length, 1);
    await update(world, { replicas: 6 });
    await settle(world);
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [6, 0]);
    await world.clock.advance(3600 * secondMs);
    assert.equal(condition(world, 'Progressing'), 'Unknown DeploymentPaused: Deployment is paused');
    await update(world, { paused: false });
    await settle(world);
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [0, 6]);
    assert.match(condition(world, 'Progressing'), /^True NewReplicaSetAvailable/);
  });

  test('that gets another size in the middle of a rollout shares it out in proportion', async () => {
    await using world = await start({
      replicas: 10,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } },
    });
    await settle(world);
    await update(world, { image: 'two' });
    await settle(world, (pod) => imageOf(pod) !== 'two');
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [8, 5]);
    await update(world, { replicas: 15 });
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [11, 7]);
    await settle(world);
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'two')], [0, 15]);
  });

  test('that hangs says so after its deadline, and why; and that it goes on', async () => {
    await using world = await start({ progressDeadlineSeconds: 30 });
    await settle(world);
    await update(world, { image: 'bad' });
    const isGood = (pod: Pod) => imageOf(pod) !== 'bad';
    await settle(world, isGood);
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "bad"' };
    for (const pod of active(world)) {
      if (isGood(pod)) continue;
      const status = {
        name: 'main',
        image: 'bad',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting },
      };
      await world.change(
        podKind,
        pod.metadata?.name ?? '',
        (now) => ({ ...now, status: { ...now.status, phase: 'Pending', containerStatuses: [status] } }),
        'status',
      );
    }
    const { name = '' } = setOf(world, 'bad').metadata ?? {};
    await world.clock.advance(25 * secondMs);
    assert.equal(
      condition(world, 'Progressing'),
      `True ReplicaSetUpdated: ReplicaSet "${name}" is progressing.`,
    );
    await world.clock.advance(10 * secondMs);
    assert.match(
      condition(world, 'Progressing'),
      /^False ProgressDeadlineExceeded: ReplicaSet "web-\w+" has timed out progressing\. Pod "web-\w+-\w+": container "main" waits: ImagePullBackOff: Back-off pulling image "bad"$/,
    );
    assert.ok(active(world).filter(isGood).length >= 3, 'the old ones go on');
    const before = world.storage.applied;
    await world.clock.advance(600 * secondMs);
    assert.equal(world.storage.applied, before);
    await update(world, { image: 'good' });
    await settle(world);
    assert.match(condition(world, 'Progressing'), /^True NewReplicaSetAvailable/);
    assert.deepEqual([countOf(world, 'one'), countOf(world, 'bad'), countOf(world, 'good')], [0, 0, 4]);
  });

  test('counts up when the name of its ReplicaSet is taken, and makes another', async () => {
    await using model = await start({ replicas: 1 });
    const taken = model.list(replicaSetKind)[0]?.metadata?.name ?? '';
    await using world = await prepare(workloadControllers);
    const labels = { app: 'other' };
    await world.create(replicaSetKind, {
      metadata: { name: taken },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { ...template('x'), metadata: { labels } },
      },
    });
    await world.start();
    await world.create(deploymentKind, {
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: template('one') },
    });
    assert.equal(read(world).status?.collisionCount, 1);
    assert.notEqual(setOf(world, 'one').metadata?.name, taken);
    assert.equal(countOf(world, 'one'), 1);
  });

  test('adopts a ReplicaSet of its template that nobody controls, with its pods', async () => {
    await using world = await prepare(workloadControllers);
    await world.start();
    await world.create(replicaSetKind, {
      metadata: { name: 'orphan', labels: { app: 'web' } },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('one') },
    });
    await settle(world);
    const names = world.podNames();
    await world.create(deploymentKind, {
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('one') },
    });
    assert.deepEqual(
      world.list(replicaSetKind).map(({ metadata }) => metadata?.ownerReferences?.[0]?.name),
      ['web'],
    );
    assert.deepEqual(world.podNames(), names);
  });

  test('says that its pods are refused', async () => {
    await using world = await prepare((options) => {
      options.registry.of(podKind).create = () =>
        Promise.reject(new StatusError('Forbidden', 'pods "web-" is forbidden: exceeded quota: small'));
      return workloadControllers(options);
    });
    await world.start();
    await world.create(deploymentKind, {
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template('one') },
    });
    assert.equal(
      condition(world, 'ReplicaFailure'),
      'True FailedCreate: pods "web-" is forbidden: exceeded quota: small',
    );
  });
});
