/** StatefulSets over a real registry: order, names, updates, and pods that are lost. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { controllerRevisionKind, podKind, statefulSetKind } from '../../../../src/api/index.ts';
import { claimTemplate, prepareSet, statefulLabels, statefulSet } from './stateful-lab.ts';
import { secondMs } from './world.ts';

const parallel = { podManagementPolicy: 'Parallel' };

describe('a stateful set', () => {
  test('makes its pods in order, each when the one before is ready, with name, host name, labels and claims', async () => {
    await using lab = await prepareSet({ replicas: 3, volumeClaimTemplates: [claimTemplate('data')] });
    assert.deepEqual(lab.shown(), ['0 one Pending']);
    await lab.run(0, false);
    assert.deepEqual(lab.shown(), ['0 one Running']);
    await lab.run(0);
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Pending']);
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '2 one Running']);
    const { metadata, spec } = lab.pod(1);
    const [revision] = lab.list(controllerRevisionKind);
    assert.deepEqual(metadata?.labels, {
      ...statefulLabels,
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': revision?.metadata?.name,
      'statefulset.kubernetes.io/pod-name': 'web-1',
    });
    assert.equal(metadata?.generateName, undefined);
    assert.equal(spec?.hostname, 'web-1');
    assert.equal(spec?.subdomain, 'svc');
    assert.deepEqual(spec?.volumes?.slice(0, 2), [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
      { name: 'tmp', emptyDir: {} },
    ]);
    const { currentRevision, updateRevision, ...counts } = lab.status();
    assert.equal(currentRevision, updateRevision);
    assert.deepEqual(counts, {
      ...{ replicas: 3, readyReplicas: 3, availableReplicas: 3, currentReplicas: 3, updatedReplicas: 3 },
      ...{ observedGeneration: 1, collisionCount: 0 },
    });
    await lab.clock.advance(secondMs);
    const events = lab.events('web');
    assert.ok(events.includes('SuccessfulCreate: create Pod web-1 in StatefulSet web successful'));
    assert.ok(
      events.includes('SuccessfulCreate: create Claim data-web-1 Pod web-1 in StatefulSet web success'),
    );
  });

  test('waits for minReadySeconds before the next pod', async () => {
    await using lab = await prepareSet({ replicas: 2, minReadySeconds: 30 });
    await lab.run(0);
    await lab.clock.advance(29 * secondMs);
    assert.deepEqual(lab.shown(), ['0 one Running']);
    await lab.clock.advance(secondMs);
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Pending']);
    assert.equal(lab.status().availableReplicas, 1);
  });

  test('gets smaller from the last pod on, each when the one after it is gone, and only while the others work', async () => {
    await using lab = await prepareSet({ replicas: 4 });
    await lab.runAll();
    await lab.changeSet({ replicas: 1 });
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '2 one Running', '-3 one Running']);
    await lab.finish();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '-2 one Running']);
    await lab.run(0, false);
    await lab.finish();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running'], 'the first one does not work');
    await lab.run(0);
    await lab.finish();
    assert.deepEqual(lab.shown(), ['0 one Running']);
  });

  test('makes and removes all pods at once with Parallel', async () => {
    await using lab = await prepareSet({ replicas: 3, ...parallel });
    assert.equal(lab.pods().length, 3);
    await lab.changeSet({ replicas: 0 });
    assert.deepEqual(lab.shown(), []);
  });

  test('numbers its pods from ordinals.start, and those before it go', async () => {
    await using lab = await prepareSet({ replicas: 2, ordinals: { start: 3 } });
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['3 one Running', '4 one Running']);
    await lab.changeSet({ ordinals: { start: 4 } });
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['4 one Running', '5 one Running']);
  });

  test('never makes a second pod of a name: one on a lost node is there until its object is gone', async () => {
    await using lab = await prepareSet({ replicas: 2, ...parallel });
    await lab.runAll();
    const { uid } = lab.pod(0).metadata ?? {};
    await lab.remove(podKind, 'web-0');
    await lab.clock.advance(3600 * secondMs);
    assert.equal(lab.pod(0).metadata?.uid, uid);
    await lab.remove(podKind, 'web-0', { gracePeriodSeconds: 0 });
    assert.notEqual(lab.pod(0).metadata?.uid, uid);
  });

  test('replaces pods that have ended, whatever their exit code', async () => {
    await using lab = await prepareSet({ replicas: 1 });
    for (const phase of ['Failed', 'Succeeded']) {
      const { uid } = lab.pod(0).metadata ?? {};
      await lab.run(0, false, phase);
      assert.notEqual(lab.pod(0).metadata?.uid, uid);
      assert.deepEqual(lab.shown(), ['0 one Pending']);
    }
  });

  test('adopts pods without a controller that have a name of its own, and gives them the labels that are missing', async () => {
    await using lab = await prepareSet('no set');
    const spec = { containers: [{ name: 'main', image: 'one' }] };
    for (const name of ['web-0', 'web-x', 'other-1'])
      await lab.create(podKind, { metadata: { name, labels: statefulLabels }, spec });
    await lab.create(statefulSetKind, statefulSet({ updateStrategy: { type: 'OnDelete' } }));
    const owners = lab
      .pods()
      .map(({ metadata }) => `${metadata?.name} ${metadata?.ownerReferences?.length ?? 0}`);
    assert.deepEqual(owners, ['other-1 0', 'web-0 1', 'web-x 0']);
    assert.equal(lab.pod(0).metadata?.labels?.['statefulset.kubernetes.io/pod-name'], 'web-0');
  });

  test('is left alone while it is being deleted, with its history', async () => {
    await using lab = await prepareSet('no set');
    const metadata = { name: 'web', finalizers: ['test.example/hold'] };
    await lab.create(statefulSetKind, { ...statefulSet(), metadata });
    await lab.remove(statefulSetKind, 'web');
    await lab.remove(controllerRevisionKind, lab.status().updateRevision ?? '');
    await lab.remove(podKind, 'web-0');
    await lab.clock.advance(60 * secondMs);
    assert.deepEqual([lab.shown(), lab.list(controllerRevisionKind)], [[], []]);
  });

  test('says so when a pod of another has the name, and goes on when that is gone', async () => {
    await using lab = await prepareSet('no set');
    const spec = { containers: [{ name: 'main', image: 'other' }] };
    await lab.create(podKind, { metadata: { name: 'web-0' }, spec });
    await lab.create(statefulSetKind, statefulSet());
    await lab.remove(podKind, 'web-0');
    await lab.clock.advance(secondMs);
    assert.deepEqual(lab.shown(), ['0 one Pending']);
    const told = /^FailedCreate: create Pod web-0 in StatefulSet web failed error: .*already exists/;
    assert.ok(
      lab.events('web').some((each) => told.test(each)),
      lab.events('web').join('\n'),
    );
  });
});

describe('the update of a stateful set', () => {
  test('replaces the pods from the last to the first, each when the one after it works', async () => {
    await using lab = await prepareSet({ replicas: 3 });
    await lab.runAll();
    const before = lab.status().currentRevision;
    await lab.setImage('two');
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '-2 one Running']);
    await lab.finish();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '2 two Pending']);
    assert.equal(lab.status().currentRevision, before);
    assert.deepEqual([lab.status().currentReplicas, lab.status().updatedReplicas], [2, 1]);
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['0 two Running', '1 two Running', '2 two Running']);
    assert.equal(lab.status().currentRevision, lab.status().updateRevision);
    assert.notEqual(lab.status().currentRevision, before);
    assert.equal(lab.status().currentReplicas, 3);
  });

  test('stops at the partition: a pod below it comes again as it was', async () => {
    await using lab = await prepareSet({ replicas: 3 });
    await lab.runAll();
    await lab.changeSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    await lab.setImage('two');
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '2 two Running']);
    await lab.remove(podKind, 'web-1', { gracePeriodSeconds: 0 });
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '2 two Running']);
    await lab.changeSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } });
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['0 two Running', '1 two Running', '2 two Running']);
  });

  test('has as many pods missing as maxUnavailable says', async () => {
    await using lab = await prepareSet({ replicas: 4, ...parallel });
    await lab.runAll();
    const rollingUpdate = { maxUnavailable: '50%' };
    await lab.changeSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
    await lab.setImage('two');
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running', '-2 one Running', '-3 one Running']);
    await lab.finish();
    await lab.run(3);
    assert.deepEqual(lab.shown(), ['0 one Running', '-1 one Running', '2 two Pending', '3 two Running']);
  });

  test('waits with OnDelete for somebody to delete a pod', async () => {
    await using lab = await prepareSet({ replicas: 2, updateStrategy: { type: 'OnDelete' } });
    await lab.runAll();
    await lab.setImage('two');
    await lab.runAll();
    assert.deepEqual(lab.shown(), ['0 one Running', '1 one Running']);
    await lab.remove(podKind, 'web-0', { gracePeriodSeconds: 0 });
    assert.deepEqual(lab.shown(), ['0 two Pending', '1 one Running']);
  });

  test('stays with a broken pod in order until somebody deletes it, and replaces it at once in parallel', async () => {
    for (const [policy, expected] of [
      ['OrderedReady', ['0 one Running', '1 one Running', '2 two Running']],
      ['Parallel', ['0 one Running', '1 one Running', '-2 two Running']],
    ] as const) {
      await using lab = await prepareSet({ replicas: 3, podManagementPolicy: policy });
      await lab.runAll();
      await lab.setImage('two');
      await lab.finish();
      await lab.run(2, false);
      await lab.setImage('three');
      assert.deepEqual(lab.shown(), expected, policy);
      await lab.remove(podKind, 'web-2', { gracePeriodSeconds: 0 });
      await lab.runAll();
      assert.deepEqual(lab.shown(), ['0 three Running', '1 three Running', '2 three Running']);
    }
  });

  test('goes back to an earlier revision, which is the newest then, and forgets the oldest', async () => {
    await using lab = await prepareSet({ replicas: 1, revisionHistoryLimit: 1 });
    const shown = () =>
      lab
        .list(controllerRevisionKind)
        .map(({ revision, data }) => `${revision} ${/"image":"(\w+)"/.exec(JSON.stringify(data))?.[1]}`)
        .sort();
    await lab.runAll();
    await lab.setImage('two');
    await lab.runAll();
    assert.deepEqual(shown(), ['1 one', '2 two']);
    const first = lab.list(controllerRevisionKind).find(({ revision }) => revision === 1)?.metadata?.name;
    await lab.setImage('one');
    await lab.runAll();
    assert.deepEqual(shown(), ['2 two', '3 one']);
    assert.equal(lab.status().updateRevision, first);
    await lab.setImage('three');
    await lab.runAll();
    assert.deepEqual(shown(), ['3 one', '4 three']);
  });
});
