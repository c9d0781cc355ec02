import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubernetesObject, V1ServiceAccount } from '@kubernetes/client-node';
import {
  ApiException,
  CoreV1Api,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import type { OpenCluster } from './cluster.ts';

/** The sort of a patch is told by its media type, which a middleware of the client sets. */
const as = (strategy: PatchStrategy) => setHeaderOptions('Content-Type', strategy);
const named = (...names: string[]) => names.map((name) => ({ name }));
const secretsOf = ({ secrets = [] }: V1ServiceAccount) => secrets.map(({ name }) => name).sort();

type WithData = KubernetesObject & { data: Record<string, string | null> };

/** An answer of 409 whose Status says all of these. */
const isConflict =
  (...parts: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof ApiException && error.code === 409, String(error));
    for (const part of parts) assert.ok(String(error.body).includes(part), String(error.body));
    return true;
  };

export function patchesSuite(cluster: OpenCluster): void {
  describe('patches by typed calls', () => {
    test('JSON Patch, merge patch and strategic merge patch', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const at = { namespace, name: 'robot' };
      const metadata = { name: 'robot' };
      await core.createNamespacedServiceAccount({ namespace, body: { metadata, secrets: named('a') } });
      const patch = (strategy: PatchStrategy, body: unknown) =>
        core.patchNamespacedServiceAccount({ ...at, body }, as(strategy));

      const strategic = await patch(PatchStrategy.StrategicMergePatch, { secrets: named('b') });
      assert.deepEqual(secretsOf(strategic), ['a', 'b']);
      const merged = await patch(PatchStrategy.MergePatch, { secrets: named('c') });
      assert.deepEqual(secretsOf(merged), ['c']);
      const add = { op: 'add', path: '/secrets/-', value: { name: 'd' } };
      assert.deepEqual(secretsOf(await patch(PatchStrategy.JsonPatch, [add])), ['c', 'd']);
      const failing = { op: 'test', path: '/secrets/0/name', value: 'x' };
      await assert.rejects(patch(PatchStrategy.JsonPatch, [failing]), { code: 422 });
      // without a word about the sort the client says JSON Patch
      assert.deepEqual(secretsOf(await core.patchNamespacedServiceAccount({ ...at, body: [add] })).length, 3);
    });

    test('the status of a node, with a dry run before', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const name = await cluster().namespace();
      await core.createNode({ body: { metadata: { name } } });
      const body = { spec: { unschedulable: true }, status: { capacity: { cpu: '4' } } };
      const strategic = as(PatchStrategy.StrategicMergePatch);
      const dry = await core.patchNodeStatus({ name, body, dryRun: 'All' }, strategic);
      assert.deepEqual(dry.status?.capacity, { cpu: '4' });
      assert.equal((await core.readNode({ name })).status?.capacity, undefined);
      const told = await core.patchNodeStatus({ name, body }, strategic);
      assert.deepEqual([told.status?.capacity, told.spec?.unschedulable], [{ cpu: '4' }, undefined]);
      await core.deleteNode({ name });
    });

    test('a patch that names a version is refused when that is no longer the stored one', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const at = { namespace, name: 'one' };
      const { metadata } = await core.createNamespacedConfigMap({
        namespace,
        body: { metadata: { name: 'one' } },
      });
      const body = { metadata: { resourceVersion: metadata?.resourceVersion }, data: { a: '1' } };
      const patch = () => core.patchNamespacedConfigMap({ ...at, body }, as(PatchStrategy.MergePatch));
      await patch();
      await assert.rejects(patch(), isConflict('the object has been modified'));
    });

    test('apply: creates, refuses what another applied, is forced', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const apply = (fieldManager: string, data: Record<string, string>, force?: boolean) =>
        core.patchNamespacedConfigMap(
          {
            ...{ namespace, name: 'one', fieldManager },
            body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data },
            ...(force === undefined ? {} : { force }),
          },
          as(PatchStrategy.ServerSideApply),
        );
      const created = await apply('ann', { a: '1', b: '2' });
      assert.deepEqual(
        created.metadata?.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`),
        ['ann Apply'],
      );
      await assert.rejects(apply('bob', { a: '2' }), isConflict('conflict with \\"ann\\": .data.a'));
      assert.deepEqual((await apply('bob', { a: '2' }, true)).data, { a: '2', b: '2' });
      const same = await apply('bob', { a: '2' });
      assert.deepEqual((await apply('ann', { b: '3' })).data, { a: '2', b: '3' });
      assert.equal(same.metadata?.uid, created.metadata?.uid);
    });
  });

  describe('patches by KubernetesObjectApi', () => {
    test('of each sort', async () => {
      const api = KubernetesObjectApi.makeApiClient(cluster().config);
      const namespace = await cluster().namespace();
      const one = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace } };
      const patch = async (
        data: Record<string, string | null>,
        strategy?: PatchStrategy,
        force?: boolean,
      ) => {
        const manager = strategy === PatchStrategy.ServerSideApply ? 'ann' : undefined;
        const args = [undefined, undefined, manager, force, strategy] as const;
        return (await api.patch<WithData>({ ...one, data }, ...args)).data;
      };
      assert.deepEqual(await patch({ a: '1' }, PatchStrategy.ServerSideApply, false), { a: '1' });
      assert.deepEqual(await patch({ b: '2' }), { a: '1', b: '2' });
      assert.deepEqual(await patch({ a: null }, PatchStrategy.MergePatch), { b: '2' });
      assert.deepEqual(await patch({ b: '3' }, PatchStrategy.ServerSideApply, true), { b: '3' });
    });
  });
}
