import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { CoreV1Api, makeInformer, Watch } from '@kubernetes/client-node';
import { waitFor } from '../../support/index.ts';
import type { OpenCluster } from './cluster.ts';

export function watchingSuite(cluster: OpenCluster): void {
  describe('watching', () => {
    test('Watch delivers each change from a version on, in order', async () => {
      const { config } = cluster();
      const core = config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const { metadata } = await core.listNamespacedConfigMap({ namespace });
      const events: string[] = [];
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const query = { resourceVersion: metadata?.resourceVersion, allowWatchBookmarks: true };
      const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
      const stop = await new Watch(config).watch(
        path,
        query,
        (type: string, object: V1ConfigMap) => {
          if (type !== 'BOOKMARK')
            events.push(`${type} ${object.metadata?.name} ${object.data?.['n'] ?? ''}`.trim());
        },
        end,
      );
      const body = (n: string) => ({ metadata: { name: 'one' }, data: { n } });
      const at = { namespace, name: 'one' };
      await core.createNamespacedConfigMap({ namespace, body: body('1') });
      await core.replaceNamespacedConfigMap({ ...at, body: body('2') });
      await core.deleteNamespacedConfigMap(at);
      const expected = ['ADDED one 1', 'MODIFIED one 2', 'DELETED one 2'];
      await waitFor('three events', () => events.length >= expected.length);
      stop.abort();
      await ended;
      assert.deepEqual(events, expected);
    });

    test('Watch ends when its time is over', async () => {
      const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
      const seen: string[] = [];
      const onEvent = (type: string): void => {
        seen.push(type);
      };
      await new Watch(cluster().config).watch('/api/v1/namespaces', { timeoutSeconds: 1 }, onEvent, end);
      assert.equal(await ended, null);
      assert.ok(seen.length >= 4 && seen.every((type) => type === 'ADDED'), seen.join());
    });

    test('an informer’s cache follows the server', async () => {
      const { config } = cluster();
      const core = config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const create = (name: string, app: string) =>
        core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { app } } } });
      await create('before', 'web');
      await create('unrelated', 'db');
      const labelSelector = 'app=web';
      const list = () => core.listNamespacedConfigMap({ namespace, labelSelector });
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const informer = makeInformer<V1ConfigMap>(config, path, list, labelSelector);
      const names = () =>
        informer
          .list()
          .map((each) => each.metadata?.name)
          .sort()
          .join();
      const seen: string[] = [];
      for (const verb of ['add', 'update', 'delete'] as const) {
        informer.on(verb, (object) => seen.push(`${verb} ${object.metadata?.name}`));
      }
      await informer.start();
      try {
        assert.equal(names(), 'before');
        await create('after', 'web');
        await waitFor('the new one', () => names() === 'after,before');
        const away = { metadata: { name: 'before', labels: { app: 'db' } } };
        await core.replaceNamespacedConfigMap({ namespace, name: 'before', body: away });
        await waitFor('the old one to leave the selection', () => names() === 'after');
        assert.deepEqual(seen, ['add before', 'add after', 'delete before']);
      } finally {
        await informer.stop();
      }
    });
  });
}
