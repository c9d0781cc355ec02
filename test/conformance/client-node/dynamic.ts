import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubernetesObject } from '@kubernetes/client-node';
import { KubernetesObjectApi } from '@kubernetes/client-node';
import type { Manifest } from '../kubectl/manifests.ts';
import {
  configMap,
  csiNode,
  lease,
  pod,
  role,
  roleBinding,
  secret,
  serviceAccount,
} from '../kubectl/manifests.ts';
import type { OpenCluster } from './cluster.ts';

type Named = KubernetesObject & { metadata: { name: string; namespace: string } };

function named(manifest: Manifest, namespace: string): Named {
  const { apiVersion, kind, ...rest } = manifest;
  return {
    ...rest,
    apiVersion: String(apiVersion),
    kind: String(kind),
    metadata: { name: 'one', namespace },
  };
}

/** Any kind by what discovery tells of it. */
export function dynamicSuite(cluster: OpenCluster): void {
  describe('KubernetesObjectApi', () => {
    const manifests = [
      configMap('one'),
      secret('one'),
      serviceAccount('one'),
      pod('one'),
      lease('one'),
      role('one', 'get'),
      roleBinding('one', 'one'),
      csiNode('one'),
    ];
    for (const manifest of manifests) {
      test(`${manifest['kind']}: create, read, list, replace, patch, delete`, async () => {
        const api = KubernetesObjectApi.makeApiClient(cluster().config);
        const object = named(manifest, await cluster().namespace());
        const { apiVersion = '', kind = '' } = object;
        const created = await api.create(object);
        assert.ok(created.metadata?.uid);
        const read = await api.read<Named>(object);
        assert.equal(read.metadata.uid, created.metadata.uid);
        const { items } = await api.list(apiVersion, kind, object.metadata.namespace);
        const found = items.find((each) => each.metadata?.name === 'one');
        assert.equal(found?.metadata?.uid, created.metadata.uid);
        const labelled = { ...read, metadata: { ...read.metadata, labels: { seen: 'yes' } } };
        const replaced = await api.replace(labelled);
        assert.deepEqual(replaced.metadata?.labels, { seen: 'yes' });
        const annotated = await api.patch({
          ...{ apiVersion, kind },
          metadata: { ...object.metadata, annotations: { seen: 'yes' } },
        });
        assert.deepEqual(annotated.metadata?.annotations, { seen: 'yes' });
        assert.deepEqual(annotated.metadata?.labels, { seen: 'yes' });
        await api.delete(object);
        await assert.rejects(api.read<Named>(object), { code: 404 });
      });
    }
  });
}
