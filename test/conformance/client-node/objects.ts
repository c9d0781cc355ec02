import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ApiException,
  CertificatesV1Api,
  CoordinationV1Api,
  CoreV1Api,
  EventsV1Api,
  RbacAuthorizationV1Api,
  StorageV1Api,
  V1MicroTime,
} from '@kubernetes/client-node';
import type { OpenCluster } from './cluster.ts';

const isStatus = (code: number) => (error: unknown) =>
  error instanceof ApiException && error.code === code && String(error.body).includes('"kind":"Status"');

const group = 'rbac.authorization.k8s.io';

/** The typed calls: one class for each group, one method for each verb and kind. */
export function objectsSuite(cluster: OpenCluster): void {
  describe('typed calls', () => {
    test('a config map: create, read, list, replace, delete', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const created = await core.createNamespacedConfigMap({
        namespace,
        body: { metadata: { name: 'one', labels: { app: 'web' } }, data: { colour: 'blue' } },
      });
      assert.ok(created.metadata?.creationTimestamp instanceof Date);
      assert.ok(created.metadata.uid);

      const at = { namespace, name: 'one' };
      const read = await core.readNamespacedConfigMap(at);
      assert.deepEqual(read.data, { colour: 'blue' });
      const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=web' });
      assert.deepEqual(
        items.map((each) => each.metadata?.name),
        ['one'],
      );
      const body = { ...read, data: { colour: 'green' } };
      const replaced = await core.replaceNamespacedConfigMap({ ...at, body });
      assert.deepEqual(replaced.data, { colour: 'green' });
      await assert.rejects(core.replaceNamespacedConfigMap({ ...at, body }), isStatus(409));
      const status = await core.deleteNamespacedConfigMap(at);
      assert.equal(status.status, 'Success');
      await assert.rejects(core.readNamespacedConfigMap(at), isStatus(404));
    });

    test('many at once: a dry run, a list, a collection deleted by its label', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const create = (name: string, extra: { dryRun?: string } = {}) =>
        core.createNamespacedSecret({
          namespace,
          body: { metadata: { name, labels: { group: name.slice(0, 1) } }, stringData: { key: name } },
          ...extra,
        });
      for (const name of ['a-1', 'a-2', 'a-3', 'b-1']) await create(name);
      await create('a-4', { dryRun: 'All' });

      const { items } = await core.listNamespacedSecret({ namespace });
      assert.deepEqual(
        items.map((each) => each.data?.['key']),
        ['a-1', 'a-2', 'a-3', 'b-1'].map((name) => Buffer.from(name).toString('base64')),
      );
      await core.deleteCollectionNamespacedSecret({ namespace, labelSelector: 'group=a' });
      const left = await core.listSecretForAllNamespaces({
        fieldSelector: `metadata.namespace=${namespace}`,
      });
      assert.deepEqual(
        left.items.map((each) => each.metadata?.name),
        ['b-1'],
      );
    });

    test('a pod: made, bound to a node, its status, evicted', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      const at = { namespace, name: 'web' };
      const containers = [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '100m' } } }];
      await core.createNamespacedPod({
        namespace,
        body: { metadata: { name: 'web' }, spec: { containers, schedulerName: 'nobody' } },
      });
      const target = { apiVersion: 'v1', kind: 'Node', name: namespace };
      await core.createNamespacedPodBinding({ ...at, body: { metadata: { name: 'web' }, target } });
      const bound = await core.readNamespacedPod(at);
      assert.equal(bound.spec?.nodeName, namespace);
      assert.equal(bound.status?.qosClass, 'Burstable');
      const startTime = new Date('2024-01-01T00:00:00Z');
      const running = { ...bound, status: { ...bound.status, phase: 'Running', startTime } };
      const told = await core.replaceNamespacedPodStatus({ ...at, body: running });
      assert.deepEqual(told.status?.startTime, startTime);
      await core.createNamespacedPodEviction({ ...at, body: { metadata: { name: 'web' } } });
      const leaving = await core.readNamespacedPod(at);
      assert.ok(leaving.metadata?.deletionTimestamp instanceof Date);
      await core.deleteNamespacedPod({ ...at, gracePeriodSeconds: 0 });
      await assert.rejects(core.readNamespacedPod(at), isStatus(404));
    });

    test('a node and its lease, with times to the microsecond', async () => {
      const core = cluster().config.makeApiClient(CoreV1Api);
      const coordination = cluster().config.makeApiClient(CoordinationV1Api);
      const name = await cluster().namespace();
      const node = await core.createNode({ body: { metadata: { name } } });
      const capacity = { cpu: '4', memory: '8Gi' };
      const told = await core.replaceNodeStatus({ name, body: { ...node, status: { capacity } } });
      assert.deepEqual(told.status?.capacity, capacity);
      const renewTime = new V1MicroTime('2024-01-01T00:00:00.123Z');
      const body = { metadata: { name }, spec: { holderIdentity: name, renewTime } };
      await coordination.createNamespacedLease({ namespace: 'kube-node-lease', body });
      const lease = await coordination.readNamespacedLease({ namespace: 'kube-node-lease', name });
      // the client leaves such a time as the text that it was sent
      assert.equal(JSON.stringify(lease.spec?.renewTime), '"2024-01-01T00:00:00.123000Z"');
      await coordination.deleteNamespacedLease({ namespace: 'kube-node-lease', name });
      await core.deleteNode({ name });
    });

    test('roles and bindings', async () => {
      const rbac = cluster().config.makeApiClient(RbacAuthorizationV1Api);
      const namespace = await cluster().namespace();
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
      await rbac.createNamespacedRole({ namespace, body: { metadata: { name: 'reader' }, rules } });
      const roleRef = { apiGroup: group, kind: 'Role', name: 'reader' };
      const subjects = [{ kind: 'User', name: 'ann' }];
      const body = { metadata: { name: 'readers' }, roleRef, subjects };
      const binding = await rbac.createNamespacedRoleBinding({ namespace, body });
      assert.deepEqual(
        binding.subjects?.map(({ apiGroup }) => apiGroup),
        [group],
      );
      const other = { ...binding, roleRef: { ...roleRef, name: 'other' } };
      const at = { namespace, name: 'readers' };
      await assert.rejects(rbac.replaceNamespacedRoleBinding({ ...at, body: other }), isStatus(422));
      await rbac.createClusterRole({ body: { metadata: { name: namespace }, rules } });
      const clusterRef = { ...roleRef, kind: 'ClusterRole', name: namespace };
      await rbac.createClusterRoleBinding({
        body: { metadata: { name: namespace }, roleRef: clusterRef, subjects },
      });
      await rbac.deleteCollectionNamespacedRoleBinding({ namespace });
      assert.deepEqual((await rbac.listNamespacedRoleBinding({ namespace })).items, []);
      await rbac.deleteClusterRoleBinding({ name: namespace });
      await rbac.deleteClusterRole({ name: namespace });
    });

    test('service accounts, signing requests, storage drivers and events', async () => {
      const { config } = cluster();
      const core = config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'robot' } } });
      const { items } = await core.listNamespacedServiceAccount({
        namespace,
        fieldSelector: 'metadata.name=robot',
      });
      assert.equal(items.length, 1);

      const drivers = [{ name: 'disk.example.com', nodeID: 'one' }];
      const storage = config.makeApiClient(StorageV1Api);
      await storage.createCSINode({ body: { metadata: { name: namespace }, spec: { drivers } } });
      assert.equal((await storage.readCSINode({ name: namespace })).spec.drivers[0]?.nodeID, 'one');
      await storage.deleteCSINode({ name: namespace });

      const events = config.makeApiClient(EventsV1Api);
      const eventTime = new V1MicroTime('2024-01-01T00:00:00.5Z');
      const regarding = { kind: 'ServiceAccount', namespace, name: 'robot' };
      const told = { reason: 'Seen', action: 'Look', type: 'Normal', note: 'was looked at' };
      const reporting = { reportingController: 'example.com/watcher', reportingInstance: 'one' };
      const body = {
        metadata: { name: 'robot.seen', namespace },
        eventTime,
        regarding,
        ...told,
        ...reporting,
      };
      await events.createNamespacedEvent({ namespace, body });
      const old = await core.readNamespacedEvent({ namespace, name: 'robot.seen' });
      assert.equal(old.message, 'was looked at');
      assert.equal(old.involvedObject.name, 'robot');
    });

    test('a refusal carries the server’s Status', async () => {
      const certificates = cluster().config.makeApiClient(CertificatesV1Api);
      const body = { metadata: { name: 'x' }, spec: { request: 'bm90aGluZw==', signerName: 'no' } };
      await assert.rejects(certificates.createCertificateSigningRequest({ body }), (error) => {
        assert.ok(isStatus(422)(error) && error instanceof ApiException);
        assert.partialDeepStrictEqual(JSON.parse(String(error.body)), {
          reason: 'Invalid',
          details: { group: 'certificates.k8s.io', kind: 'CertificateSigningRequest' },
        });
        return true;
      });
    });
  });
}
