/** The claims of the pods of StatefulSets: who makes them, and who they go with. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { persistentVolumeClaimKind, podKind } from '../../../../src/api/index.ts';
import type { StatefulSpec } from './stateful-lab.ts';
import { claimTemplate, prepareSet, statefulLabels } from './stateful-lab.ts';

const policies = (whenDeleted: string, whenScaled: string): Partial<StatefulSpec> => ({
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
});

describe('the claims of a stateful set', () => {
  test('are made before their pod, and found again by a later one', async () => {
    await using lab = await prepareSet({ replicas: 1, volumeClaimTemplates: [claimTemplate('data')] });
    const [claim] = lab.claims();
    assert.equal(claim?.metadata?.name, 'data-web-0');
    assert.deepEqual(claim?.metadata?.labels, statefulLabels);
    assert.equal(claim?.metadata?.ownerReferences, undefined);
    await lab.changeSet({ replicas: 0 });
    await lab.runAll();
    assert.deepEqual(lab.shown(), []);
    await lab.changeSet({ replicas: 1 });
    await lab.runAll();
    assert.equal(lab.claims()[0]?.metadata?.uid, claim?.metadata?.uid);
  });

  for (const [whenDeleted, whenScaled, kept, condemned] of [
    ['Retain', 'Retain', '', ''],
    ['Delete', 'Retain', 'StatefulSet web', 'StatefulSet web'],
    ['Retain', 'Delete', '', 'Pod web-1'],
    ['Delete', 'Delete', 'StatefulSet web', 'Pod web-1'],
  ] as const)
    test(`go with whom the policy says: whenDeleted ${whenDeleted}, whenScaled ${whenScaled}`, async () => {
      const volumeClaimTemplates = [claimTemplate('data')];
      await using lab = await prepareSet({
        ...{ replicas: 2, volumeClaimTemplates },
        ...policies(whenDeleted, whenScaled),
      });
      await lab.runAll();
      assert.deepEqual(lab.claimOwners(), [`data-web-0: ${kept}`, `data-web-1: ${kept}`]);
      await lab.changeSet({ replicas: 1 });
      assert.deepEqual(lab.claimOwners(), [`data-web-0: ${kept}`, `data-web-1: ${condemned}`]);
      await lab.changeSet({ replicas: 2, ...policies('Retain', 'Retain') });
      assert.deepEqual(lab.shown(), ['0 one Running', '-1 one Running']);
    });

  test('change hands with the policy, and stay with what else controls them', async () => {
    await using lab = await prepareSet({ replicas: 2, volumeClaimTemplates: [claimTemplate('data')] });
    await lab.runAll();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other', controller: true };
    await lab.change(persistentVolumeClaimKind, 'data-web-1', (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, ownerReferences: [owner] },
    }));
    await lab.changeSet(policies('Delete', 'Retain'));
    assert.deepEqual(lab.claimOwners(), ['data-web-0: StatefulSet web', 'data-web-1: ConfigMap other']);
  });

  test('that go with an earlier pod are waited for', async () => {
    await using lab = await prepareSet({
      ...{ replicas: 1, volumeClaimTemplates: [claimTemplate('data')] },
      ...policies('Retain', 'Delete'),
    });
    await lab.runAll();
    await lab.changeSet({ replicas: 0 });
    await lab.finish();
    assert.deepEqual(lab.claimOwners(), ['data-web-0: Pod web-0'], 'nobody collects garbage here');
    await lab.changeSet({ replicas: 1 });
    assert.deepEqual(lab.shown(), []);
    const metadata = { finalizers: [] };
    await lab.change(persistentVolumeClaimKind, 'data-web-0', (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, ...metadata },
    }));
    await lab.remove(persistentVolumeClaimKind, 'data-web-0');
    assert.deepEqual(lab.shown(), ['0 one Pending']);
    assert.deepEqual(lab.claimOwners(), ['data-web-0: ']);
  });

  test('are made again for a pod that waits for them, and the set says why there is none', async () => {
    await using lab = await prepareSet({ replicas: 1, volumeClaimTemplates: [claimTemplate('data')] });
    await lab.change(persistentVolumeClaimKind, 'data-web-0', (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, finalizers: ['test.example/hold'] },
    }));
    await lab.remove(persistentVolumeClaimKind, 'data-web-0');
    await lab.remove(podKind, 'web-0', { gracePeriodSeconds: 0 });
    assert.deepEqual(lab.shown(), []);
    await lab.clock.advance(1000);
    const why =
      'FailedCreate: create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted';
    assert.ok(lab.events('web').includes(why), lab.events('web').join('\n'));
    await lab.change(persistentVolumeClaimKind, 'data-web-0', (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, finalizers: [] },
    }));
    await lab.settle();
    assert.deepEqual(lab.shown(), ['0 one Pending']);
  });
});
