/** The history of templates: what a revision keeps, how it is called, which number it has, and which go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ControllerRevision } from '../../../../src/api/index.ts';
import { controllerRevisionKind, statefulSetKind } from '../../../../src/api/index.ts';
import { planHistory, surplusRevisions } from '../../../../src/apiserver/workloads/revisions/history.ts';
import {
  hashData,
  keepsSame,
  keptTemplate,
  revisionData,
  revisionName,
} from '../../../../src/apiserver/workloads/revisions/revision-data.ts';
import { prepareSet, statefulLabels, statefulSet } from './stateful-lab.ts';

const template = (image: string) => ({
  spec: { containers: [{ name: 'c', image }] },
  metadata: { labels: { b: '1', a: '2' } },
});
const revision = (number: number, image: string, name = `${image}-${number}`): ControllerRevision => ({
  metadata: { name },
  data: revisionData(template(image)),
  revision: number,
});
const shown = (revisions: readonly ControllerRevision[]) =>
  revisions.map(({ metadata }) => metadata?.name).join(' ');

describe('a revision', () => {
  test('keeps a patch that replaces the template, with its keys in order', () => {
    assert.equal(
      JSON.stringify(revisionData(template('i'))),
      '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"}},"spec":{"containers":[{"image":"i","name":"c"}]}}}}',
    );
    assert.deepEqual(keptTemplate(revision(1, 'i')), template('i'));
    for (const data of [undefined, null, 'text', {}, { spec: {} }, { spec: { template: 1 } }])
      assert.equal(keptTemplate({ data }), undefined);
  });

  test('is the same as one of the reference, which writes times that are missing', () => {
    const theirs = revisionData({
      ...template('i'),
      metadata: { creationTimestamp: null, labels: { a: '2', b: '1' } },
    });
    assert.ok(keepsSame({ data: theirs }, revisionData(template('i'))));
    assert.ok(!keepsSame({ data: theirs }, revisionData(template('j'))));
  });

  test('has a name of the same length for each owner, other after a collision, and without words', () => {
    const data = revisionData(template('i'));
    assert.match(hashData(data, 0), /^[bcdf-hj-np-tvwxz24-9]{8,10}$/);
    assert.equal(hashData(data, 0), hashData(revisionData(template('i')), 0));
    assert.notEqual(hashData(data, 0), hashData(data, 1));
    assert.equal(revisionName('o'.repeat(250), 'h').length, 225);
  });
});

describe('the history', () => {
  const [one, two, three] = [revision(1, 'one'), revision(2, 'two'), revision(3, 'three')];
  const cases: readonly [why: string, revisions: readonly ControllerRevision[], plan: string][] = [
    ['begins with 1', [], 'make 1 old: duplicates:'],
    ['goes on with the next number', [two, one], 'make 3 old:one-1 two-2 duplicates:'],
    ['stays where nothing has changed', [one, revision(2, 'new')], 'new-2 2 old:one-1 duplicates:'],
    [
      'makes the one that is gone back to the newest',
      [revision(1, 'new'), two, three],
      'new-1 4 old:two-2 three-3 duplicates:',
    ],
    [
      'keeps the newest of the same',
      [revision(1, 'new'), revision(3, 'new'), two],
      'new-3 3 old:two-2 duplicates:new-1',
    ],
  ];
  for (const [why, revisions, expected] of cases)
    test(why, () => {
      const { current, number, old, duplicates } = planHistory(revisions, revisionData(template('new')));
      const found = current?.metadata?.name ?? 'make';
      assert.equal(`${found} ${number} old:${shown(old)} duplicates:${shown(duplicates)}`, expected);
    });

  test('loses the oldest beyond the limit that no pod is of', () => {
    const old = [three, one, two];
    const dead = () => false;
    assert.equal(shown(surplusRevisions(old, 1, dead)), 'one-1 two-2');
    assert.equal(shown(surplusRevisions(old, 0, (each) => each === two)), 'one-1 three-3');
    assert.equal(shown(surplusRevisions(old, 3, dead)), '');
  });
});

describe('the revisions of a set', () => {
  test('are adopted, and give way when another object has their name', async () => {
    await using lab = await prepareSet('no set');
    const probe = await prepareSet();
    const [made] = probe.list(controllerRevisionKind);
    await probe[Symbol.asyncDispose]();
    assert.ok(made);
    const { name = '' } = made.metadata ?? {};
    await lab.create(controllerRevisionKind, { metadata: { name }, data: { spec: 'other' }, revision: 7 });
    const orphan = {
      metadata: { name: 'orphan', labels: statefulLabels },
      data: revisionData(template('before')),
      revision: 4,
    };
    await lab.create(controllerRevisionKind, orphan);
    await lab.create(statefulSetKind, statefulSet());
    assert.equal(lab.get(controllerRevisionKind, 'orphan').metadata?.ownerReferences?.[0]?.name, 'web');
    assert.equal(lab.get(controllerRevisionKind, name).revision, 7, 'what has the name stays');
    assert.equal(lab.status().collisionCount, 1);
    const newest = lab.get(controllerRevisionKind, lab.status().updateRevision ?? '');
    assert.equal(newest.revision, 5);
    assert.deepEqual(newest.data, made.data);
  });
});
