/** What StatefulSets decide, by tables: which pod is made or removed next, and who a claim goes with. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OwnerReference, Pod } from '../../../../src/api/index.ts';
import {
  claimOwner,
  claimsFor,
  isStale,
  ownersFor,
} from '../../../../src/apiserver/workloads/stateful-set/claims.ts';
import { decide } from '../../../../src/apiserver/workloads/stateful-set/decide.ts';
import { ordinalOf } from '../../../../src/apiserver/workloads/stateful-set/identity.ts';
import { countPods } from '../../../../src/apiserver/workloads/stateful-set/status.ts';
import type { StatefulSpec } from './stateful-lab.ts';
import { claimTemplate, statefulSet } from './stateful-lab.ts';

const nowMs = Date.parse('2025-01-01T01:00:00Z');
const readySince = new Date(nowMs - 10_000).toISOString();

/**
 * A pod as `NUMBER STATE`: `2 new` works and is of the newest revision, `2 old` of an older one. `!`: not ready, `-`: is being
 * deleted, `?`: pending, `x`: failed.
 */
function pod(text: string): Pod {
  const [, mark = '', number = '', revision = ''] = /^([!?x-]?)(\d+) (\w+)$/.exec(text) ?? [];
  const isReady = mark === '' || mark === '-';
  const phase = { x: 'Failed', '?': 'Pending' }[mark] ?? 'Running';
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: readySince }];
  return {
    metadata: {
      ...{ name: `web-${number}`, labels: { 'controller-revision-hash': revision } },
      ...(mark === '-' ? { deletionTimestamp: readySince } : {}),
    },
    status: { phase, conditions },
  };
}

const view = (spec: Partial<StatefulSpec>, pods: readonly string[], maxUnavailable = 1) => ({
  set: statefulSet({ podManagementPolicy: 'OrderedReady', updateStrategy: rolling(), ...spec }),
  pods: pods.map(pod),
  ...{ currentRevision: 'old', updateRevision: 'new', maxUnavailable, nowMs },
});

const rolling = (partition = 0) => ({ type: 'RollingUpdate', rollingUpdate: { partition } });
const parallel = { podManagementPolicy: 'Parallel' };

describe('a stateful set', () => {
  const cases: readonly [
    why: string,
    spec: Partial<StatefulSpec>,
    pods: string,
    done: string,
    maxUnavailable?: number,
  ][] = [
    ['has its first pod made', { replicas: 3 }, '', '+0'],
    ['waits for a pod that is not ready', { replicas: 3 }, '!0 new', ''],
    ['waits for a pod that is pending', { replicas: 3 }, '?0 new', ''],
    ['waits for a pod that is being deleted', { replicas: 3 }, '-0 new', ''],
    ['waits for minReadySeconds', { replicas: 3, minReadySeconds: 11 }, '0 new', ''],
    ['goes on after minReadySeconds', { replicas: 3, minReadySeconds: 10 }, '0 new', '+1'],
    ['fills a gap before it goes on', { replicas: 4 }, '0 new, 2 new', '+1'],
    ['has all pods made at once', { replicas: 3, ...parallel }, '!1 new', '+0 +2'],
    ['has none made beside one that goes', { replicas: 2, ...parallel }, '-0 new, -1 new', ''],
    ['has a failed pod removed', { replicas: 2 }, '0 new, x1 new', '-1'],
    ['has a failed pod removed that is in the way', { replicas: 2 }, 'x0 new, 1 new', '-0'],
    ['has all failed pods removed at once', { replicas: 2, ...parallel }, 'x0 new, x1 new', '-0 -1'],
    ['gets smaller from the end', { replicas: 1 }, '0 new, 1 new, 2 new', '-2'],
    ['waits for the last one to go', { replicas: 1 }, '0 new, 1 new, -2 new', ''],
    ['does not get smaller while one does not work', { replicas: 1 }, '!0 new, 1 new, 2 new', ''],
    ['waits for those before the last one', { replicas: 1 }, '0 new, !1 new, !2 new', ''],
    [
      'removes the first that does not work when it is the last',
      { replicas: 1 },
      '0 new, 1 new, !2 new',
      '-2',
    ],
    ['gets smaller at once', { replicas: 1, ...parallel }, '!0 new, 1 new, 2 new', '-2 -1'],
    [
      'keeps the numbers from the start on',
      { replicas: 2, ordinals: { start: 1 } },
      '0 new, 1 new, 2 new',
      '-0',
    ],
    ['fills from the start on', { replicas: 2, ordinals: { start: 5 } }, '', '+5'],
    ['updates the last pod first', { replicas: 3 }, '0 old, 1 old, 2 old', '-2'],
    ['goes on with the one before', { replicas: 3 }, '0 old, 1 old, 2 new', '-1'],
    ['waits for the one that was updated', { replicas: 3 }, '0 old, 1 old, !2 new', ''],
    ['stops at the partition', { replicas: 3, updateStrategy: rolling(2) }, '0 old, 1 old, 2 new', ''],
    [
      'makes pods below the partition as they were',
      { replicas: 2, updateStrategy: rolling(1) },
      '',
      '+0 old',
    ],
    ['makes pods from the partition on new', { replicas: 2, updateStrategy: rolling(1) }, '0 old', '+1'],
    [
      'counts the partition from the start',
      { replicas: 2, ordinals: { start: 4 }, updateStrategy: rolling(1) },
      '4 old, 5 old',
      '-5',
    ],
    [
      'leaves pods alone with OnDelete',
      { replicas: 2, updateStrategy: { type: 'OnDelete' } },
      '0 old, 1 old',
      '',
    ],
    ['makes pods new with OnDelete', { replicas: 2, updateStrategy: { type: 'OnDelete' } }, '1 old', '+0'],
    ['updates several at once', { replicas: 4 }, '0 old, 1 old, 2 old, 3 old', '-3 -2', 2],
    ['counts what is missing already', { replicas: 4, ...parallel }, '0 old, 1 old, 2 old, !3 new', '-2', 2],
    ['stays in order with a pod that does not work', { replicas: 2 }, '0 old, !1 old', ''],
    [
      'replaces what does not work in parallel',
      { replicas: 3, ...parallel },
      '!0 old, 1 old, !2 old',
      '-2 -0',
    ],
    ['does not update while it gets smaller', { replicas: 1 }, '0 old, 1 old', '-1'],
    ['does not look at pods without a number', { replicas: 1 }, '0 new, 07 new', ''],
  ];
  for (const [why, spec, pods, done, maxUnavailable] of cases)
    test(why, () => {
      const { create, remove } = decide(view(spec, pods === '' ? [] : pods.split(', '), maxUnavailable));
      const made = create.map(
        ({ ordinal, revision }) => `+${ordinal}${revision === 'current' ? ' old' : ''}`,
      );
      const removed = remove.map(({ metadata }) => `-${metadata?.name?.replace('web-', '')}`);
      assert.equal([...made, ...removed].join(' '), done);
    });
});

describe('the status of a stateful set', () => {
  test('counts pods of each revision, without those that go', () => {
    assert.deepEqual(countPods(view({ replicas: 4 }, ['0 old', '1 old', '-2 new', '!3 new'])), {
      ...{ replicas: 4, readyReplicas: 3, availableReplicas: 3, currentReplicas: 2, updatedReplicas: 1 },
      ...{ currentRevision: 'old', updateRevision: 'new' },
    });
  });

  test('says that the newest revision is the current one when all pods are of it and ready, not before', () => {
    const current = (pods: readonly string[], spec: Partial<StatefulSpec> = {}) =>
      countPods(view({ replicas: 2, ...spec }, pods)).currentRevision;
    assert.equal(current(['0 new', '1 new']), 'new');
    assert.equal(current(['0 new', '!1 new']), 'old');
    assert.equal(current(['0 new', '1 old']), 'old');
    assert.equal(current(['0 new', '1 new', '2 new']), 'old');
    assert.equal(current(['0 new', '1 new'], { updateStrategy: { type: 'OnDelete' } }), 'old');
  });
});

test('the number of a pod is what follows the name of the set, and nothing else', () => {
  const numbers = ['web-0', 'web-12', 'web-01', 'web--1', 'web-x', 'web', 'other-1', 'web-99999999999'].map(
    (name) => ordinalOf(statefulSet(), { metadata: { name } }),
  );
  assert.deepEqual(numbers, [0, 12, ...Array.from({ length: 6 }, () => undefined)]);
});

describe('a claim', () => {
  const reference = (kind: string, uid: string): OwnerReference => ({
    ...{ apiVersion: 'v1', kind, name: uid, uid, controller: true, blockOwnerDeletion: true },
  });
  const [set, webPod, other] = [
    reference('StatefulSet', 'set'),
    reference('Pod', 'pod'),
    reference('Job', 'job'),
  ];
  const weak = { ...set, controller: false };
  const owned = (ownerReferences: readonly OwnerReference[]) => ({
    metadata: { name: 'c', ownerReferences: [...ownerReferences] },
  });

  test('goes with whom the policy says', () => {
    const owner = (whenDeleted: string, whenScaled: string, isCondemned: boolean) =>
      claimOwner(
        statefulSet({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } }),
        isCondemned,
      );
    for (const [deleted, scaled, kept, condemned] of [
      ['Retain', 'Retain', 'none', 'none'],
      ['Delete', 'Retain', 'set', 'set'],
      ['Retain', 'Delete', 'none', 'pod'],
      ['Delete', 'Delete', 'set', 'pod'],
    ] as const)
      assert.deepEqual([owner(deleted, scaled, false), owner(deleted, scaled, true)], [kept, condemned]);
  });

  test('changes its owners only where they are others, and not when something else controls it', () => {
    const owners = { set, pod: webPod };
    assert.equal(ownersFor(owned([]), 'none', owners), undefined);
    assert.equal(ownersFor(owned([set]), 'set', owners), undefined);
    assert.deepEqual(ownersFor(owned([]), 'set', owners), [set]);
    assert.deepEqual(ownersFor(owned([weak]), 'set', owners), [set]);
    assert.deepEqual(ownersFor(owned([set]), 'pod', owners), [webPod]);
    assert.deepEqual(ownersFor(owned([webPod]), 'none', owners), []);
    assert.equal(ownersFor(owned([other]), 'set', owners), undefined);
    const weakOther = { ...other, controller: false };
    assert.deepEqual(ownersFor(owned([weakOther]), 'set', owners), [weakOther, set]);
  });

  test('is stale while it goes with an earlier pod of the name, where claims go with pods', () => {
    const scaled = statefulSet({
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' },
    });
    assert.equal(isStale(owned([webPod]), scaled, 'pod', ''), true);
    assert.equal(isStale(owned([webPod]), scaled, 'pod', 'pod'), false);
    assert.equal(isStale(owned([webPod]), scaled, 'web-1', ''), false);
    assert.equal(isStale(owned([webPod]), statefulSet(), 'pod', ''), false);
  });

  test('has the labels of its template and of the selector, and what the template asks for', () => {
    const template = claimTemplate('data');
    const labelled = {
      ...template,
      metadata: { ...template.metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
    };
    assert.deepEqual(claimsFor({ ...statefulSet({ volumeClaimTemplates: [labelled] }) }, 3), [
      {
        metadata: {
          name: 'data-web-3',
          namespace: '',
          labels: { a: 'b', app: 'web' },
          annotations: { c: 'd' },
        },
        spec: template.spec,
      },
    ]);
  });
});
