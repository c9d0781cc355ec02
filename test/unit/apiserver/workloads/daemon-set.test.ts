/** DaemonSets over a real registry: a pod on every node that fits, updates, nodes that come and go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControllerRevision, DaemonSet } from '../../../../src/api/index.ts';
import { controllerRevisionKind, daemonSetKind, podKind, StatusError } from '../../../../src/api/index.ts';
import { waitFor } from '../../../support/index.ts';
import { daemonLabels, daemonSet, prepareNodes } from './daemon-lab.ts';
import { secondMs } from './world.ts';

const hashOf = ({ metadata }: { metadata?: { labels?: Record<string, string> } } = {}) =>
  metadata?.labels?.['controller-revision-hash'];

describe('a daemon set', () => {
  test('has a pod for each node that fits, which tolerates what nodes suffer, and says so in its status', async () => {
    await using lab = await prepareNodes(['a', 'b']);
    await lab.addNode('tainted', { taints: [{ key: 'k', effect: 'NoSchedule' }] });
    await lab.addNode('cordoned', {
      unschedulable: true,
      taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    });
    await lab.create(daemonSetKind, daemonSet());
    await lab.run();
    assert.deepEqual(lab.shown(), ['a one', 'b one', 'cordoned one']);
    assert.deepEqual(lab.set().status, {
      ...{ currentNumberScheduled: 3, desiredNumberScheduled: 3, numberReady: 3, updatedNumberScheduled: 3 },
      ...{ numberAvailable: 3, observedGeneration: 1 },
    });
    const [pod] = lab.pods();
    assert.match(pod?.metadata?.name ?? '', /^agent-[a-z0-9]{5}$/);
    assert.equal(pod?.metadata?.ownerReferences?.[0]?.kind, 'DaemonSet');
    assert.equal(hashOf(pod), hashOf(lab.list(controllerRevisionKind)[0]));
    await lab.clock.advance(secondMs);
    const created = lab.events('agent').filter((each) => /^SuccessfulCreate: Created pod: agent-/.test(each));
    assert.equal(created.length, 3);
  });

  test('keeps the conditions that others write, and writes its own numbers', async () => {
    await using lab = await prepareNodes(['a']);
    await lab.create(daemonSetKind, daemonSet());
    await lab.run();
    const conditions = [{ type: 'Paid', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }];
    const spoil = (now: DaemonSet) => ({ ...now, status: { ...now.status, numberReady: 7, conditions } });
    await lab.change(daemonSetKind, 'agent', spoil, 'status');
    await waitFor('its own number', () => lab.set().status?.numberReady === 1);
    assert.partialDeepStrictEqual(lab.set().status?.conditions, conditions);
  });

  test('leaves nodes that do not fit any more, and stays where new pods are kept away only', async () => {
    await using lab = await prepareNodes(['a', 'b', 'c']);
    await lab.create(daemonSetKind, daemonSet());
    await lab.run();
    await lab.taint('a', 'NoSchedule');
    assert.deepEqual(lab.shown(), ['a one', 'b one', 'c one']);
    assert.equal(lab.set().status?.numberMisscheduled, 1);
    await lab.taint('b', 'NoExecute');
    assert.deepEqual(lab.shown(), ['-b one', 'a one', 'c one']);
    await lab.finish();
    assert.deepEqual(lab.shown(), ['a one', 'c one']);
    const status = lab.set().status;
    assert.deepEqual([status?.desiredNumberScheduled, status?.numberReady], [1, 1]);
  });

  test('follows nodes that come and go, and does nothing when a node only reports', async () => {
    await using lab = await prepareNodes(['a']);
    await lab.create(daemonSetKind, daemonSet());
    await lab.addNode('late');
    assert.deepEqual(lab.shown(), ['(a) one', '(late) one']);
    await lab.run();
    const before = lab.storage.applied;
    await lab.changeNode('late', (node) => ({
      ...node,
      metadata: { ...node.metadata, annotations: { k: 'v' } },
    }));
    assert.equal(lab.storage.applied, before + 1, 'only the node was written');
    await lab.addNode('short-lived');
    await lab.removeNode('short-lived');
    assert.deepEqual(lab.shown(), ['a one', 'late one'], 'a pod for a node that is gone is removed');
    assert.equal(lab.set().status?.desiredNumberScheduled, 2);
  });

  test('makes the pod of a node again only when the last one is gone', async () => {
    await using lab = await prepareNodes(['a']);
    await lab.create(daemonSetKind, daemonSet());
    await lab.run();
    await lab.remove(podKind, lab.nameOn('a'));
    assert.deepEqual(lab.shown(), ['-a one']);
    await lab.finish();
    assert.deepEqual(lab.shown(), ['(a) one']);
  });

  test('replaces a failed pod at once, then after waits that double, and says so', async () => {
    await using lab = await prepareNodes(['a']);
    await lab.create(daemonSetKind, daemonSet());
    const fail = async () => {
      await lab.run();
      const name = lab.nameOn('a');
      await lab.report(name, 'Failed', false);
      return name;
    };
    const first = await fail();
    assert.deepEqual(lab.shown(), ['(a) one'], 'replaced at once');
    const second = await fail();
    assert.equal(lab.pods()[0]?.metadata?.name, second, 'the second one waits');
    await lab.clock.advance(secondMs);
    assert.deepEqual(lab.shown(), ['(a) one']);
    const third = await fail();
    await lab.clock.advance(secondMs);
    assert.equal(lab.pods()[0]?.metadata?.name, third, 'the third one waits for longer');
    await lab.clock.advance(secondMs);
    assert.deepEqual(lab.shown(), ['(a) one']);
    const failed = `FailedDaemonPod: Found failed daemon pod ns/${first} on node a, will try to kill it`;
    assert.ok(lab.events('agent').includes(failed), lab.events('agent').join('\n'));
  });

  test('tries one pod at a time where they are refused, and says why', async () => {
    const refused = new StatusError('Forbidden', 'exceeded quota');
    await using lab = await prepareNodes(['a', 'b', 'c']);
    const pods = lab.theirRegistry.of(podKind);
    let tries = 0;
    const create = pods.create.bind(pods);
    pods.create = async () => {
      tries++;
      throw refused;
    };
    await lab.create(daemonSetKind, daemonSet());
    assert.ok(tries === 1 || tries === 2, `${tries} tries: one, and one after the status was written`);
    assert.equal(lab.set().status?.desiredNumberScheduled, 3, 'the status is told all the same');
    pods.create = create;
    await lab.clock.advance(secondMs);
    assert.equal(lab.pods().length, 3);
    assert.ok(lab.events('agent').includes('FailedCreate: Error creating: exceeded quota'));
  });

  test('adopts pods without a controller that it selects, and lets go of those that it does not select any more', async () => {
    await using lab = await prepareNodes(['a', 'b']);
    const spec = { containers: [{ name: 'main', image: 'old' }], nodeName: 'a' };
    await lab.create(podKind, { metadata: { name: 'orphan', labels: daemonLabels }, spec });
    await lab.create(daemonSetKind, daemonSet({ updateStrategy: { type: 'OnDelete' } }));
    assert.deepEqual(lab.shown(), ['(b) one', 'a old']);
    assert.equal(lab.get(podKind, 'orphan').metadata?.ownerReferences?.[0]?.name, 'agent');
    await lab.change(podKind, 'orphan', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: {} } }));
    await lab.settle();
    assert.equal(lab.get(podKind, 'orphan').metadata?.ownerReferences, undefined);
    assert.deepEqual(lab.shown(), ['(a) one', '(b) one', 'a old']);
  });

  test('is left alone while it is being deleted', async () => {
    await using lab = await prepareNodes(['a']);
    const metadata = { name: 'agent', finalizers: ['test.example/hold'] };
    await lab.create(daemonSetKind, { ...daemonSet(), metadata });
    await lab.remove(daemonSetKind, 'agent');
    const [pod] = lab.pods();
    await lab.remove(podKind, pod?.metadata?.name ?? '', { gracePeriodSeconds: 0 });
    assert.deepEqual(lab.shown(), []);
  });
});

describe('the update of a daemon set', () => {
  test('replaces one pod after the other, each when the one before is available', async () => {
    await using lab = await prepareNodes(['a', 'b', 'c']);
    await lab.create(daemonSetKind, daemonSet({ minReadySeconds: 10 }));
    await lab.run();
    await lab.clock.advance(10 * secondMs);
    assert.equal(lab.set().status?.numberAvailable, 3);
    await lab.setImage('two');
    for (const left of [3, 2, 1]) {
      assert.equal(lab.shown().filter((each) => / one/.test(each)).length, left);
      assert.equal(lab.shown().filter((each) => each.startsWith('-')).length, 1, lab.shown().join());
      await lab.finish();
      await lab.run();
      await lab.clock.advance(9 * secondMs);
      assert.equal(
        lab.shown().filter((each) => each.startsWith('-')).length,
        0,
        'it waits for minReadySeconds',
      );
      await lab.clock.advance(secondMs);
    }
    assert.deepEqual(lab.shown(), ['a two', 'b two', 'c two']);
    assert.equal(lab.set().status?.updatedNumberScheduled, 3);
  });

  test('puts a new pod beside the old one with maxSurge, which goes when the new one works', async () => {
    await using lab = await prepareNodes(['a', 'b']);
    const rollingUpdate = { maxSurge: '50%', maxUnavailable: 0 };
    await lab.create(daemonSetKind, daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    await lab.run();
    await lab.setImage('two');
    assert.deepEqual(lab.shown(), ['(a) two', 'a one', 'b one']);
    await lab.run(false);
    assert.deepEqual(lab.shown(), ['a one', 'a two', 'b one']);
    for (const pod of lab.pods()) await lab.report(pod.metadata?.name ?? '', 'Running');
    assert.deepEqual(lab.shown(), ['(b) two', '-a one', 'a two', 'b one']);
    await lab.finish();
    await lab.run();
    await lab.finish();
    assert.deepEqual(lab.shown(), ['a two', 'b two']);
  });

  test('waits with OnDelete for somebody to delete a pod', async () => {
    await using lab = await prepareNodes(['a', 'b']);
    await lab.create(daemonSetKind, daemonSet({ updateStrategy: { type: 'OnDelete' } }));
    await lab.run();
    await lab.setImage('two');
    assert.deepEqual(lab.shown(), ['a one', 'b one']);
    await lab.remove(podKind, lab.nameOn('a'), { gracePeriodSeconds: 0 });
    assert.deepEqual(lab.shown(), ['(a) two', 'b one']);
  });

  test('is kept as revisions: the one that is gone back to is the newest again, and the oldest go', async () => {
    await using lab = await prepareNodes(['a']);
    await lab.create(daemonSetKind, daemonSet({ revisionHistoryLimit: 2 }));
    const renew = async (image: string) => {
      await lab.setImage(image);
      for (let round = 0; round < 3; round++) {
        await lab.run();
        await lab.finish();
      }
    };
    const shown = () =>
      lab
        .list(controllerRevisionKind)
        .map((each) => `${each.revision} ${imageOf(each)}`)
        .sort();
    for (const image of ['one', 'two', 'three']) await renew(image);
    assert.deepEqual(shown(), ['1 one', '2 two', '3 three']);
    await renew('one');
    assert.deepEqual(shown(), ['2 two', '3 three', '4 one']);
    await renew('four');
    assert.deepEqual(shown(), ['3 three', '4 one', '5 four']);
    assert.equal(
      hashOf(lab.podOn('a')),
      hashOf(lab.list(controllerRevisionKind).find(({ revision }) => revision === 5)),
    );
  });
});

function imageOf({ data }: ControllerRevision): string {
  return /"image":"(\w+)"/.exec(JSON.stringify(data))?.[1] ?? '';
}
