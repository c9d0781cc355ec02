import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { event, node } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';
import { columnsOf, linesOf } from '../tables.ts';

export function podsSuite(open: OpenShell, { minor }: Release): void {
  describe('pods', () => {
    test('run makes one from its arguments', async () => {
      await using shell = await open();
      const line =
        'run web --image=busybox:1 --restart=Never --labels=app=web --env=A=1 --port=80 -- echo hello';
      assert.equal(await shell.ok(line), 'pod/web created\n');
      assert.partialDeepStrictEqual(await shell.get('pod web'), {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'busybox:1',
              imagePullPolicy: 'IfNotPresent',
              args: ['echo', 'hello'],
              env: [{ name: 'A', value: '1' }],
              ports: [{ containerPort: 80, protocol: 'TCP' }],
            },
          ],
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 30,
        },
        status: { phase: 'Pending', qosClass: 'BestEffort' },
      });
      assert.match(await shell.ok('get all'), /^(pod\/)?web +0\/1 +Pending +0 /m);
    });

    test('a binding puts one on a node, and an eviction takes it away', async () => {
      await using shell = await open();
      const { namespace } = shell;
      const path = `/api/v1/namespaces/${namespace}/pods/web`;
      await shell.ok('create -f -', node(namespace));
      await shell.ok('run web --image=busybox');
      const target = { apiVersion: 'v1', kind: 'Node', name: namespace };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'web' }, target };
      const bound: unknown = JSON.parse(await shell.ok(`create --raw ${path}/binding -f -`, binding));
      assert.partialDeepStrictEqual(bound, { kind: 'Status', status: 'Success' });
      const there = `get pods --field-selector=spec.nodeName=${namespace} -o name`;
      assert.equal(await shell.ok(there), 'pod/web\n');
      assert.match(await shell.fails(`create --raw ${path}/binding -f -`, binding), /Conflict/);

      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace } };
      const evicted: unknown = JSON.parse(await shell.ok(`create --raw ${path}/eviction -f -`, eviction));
      assert.partialDeepStrictEqual(evicted, { kind: 'Status', status: 'Success' });
      assert.notEqual(await shell.ok('get pod web -o jsonpath={.metadata.deletionTimestamp}'), '');
      await shell.ok('delete pod web --grace-period=0 --force');
      assert.equal(await shell.ok(there), '');
    });

    test('an agent’s status is shown', async () => {
      await using shell = await open();
      await shell.ok('run web --image=busybox');
      const state = { running: { startedAt: '2024-01-01T00:00:00Z' } };
      const container = { name: 'web', image: 'busybox', imageID: '', ready: true, restartCount: 2, state };
      const status = { phase: 'Running', podIP: '10.0.0.7', containerStatuses: [container] };
      const pod = await shell.get('pod web');
      assert.ok(typeof pod === 'object' && pod !== null);
      const path = `/api/v1/namespaces/${shell.namespace}/pods/web/status`;
      await shell.ok(`replace --raw ${path} -f -`, { ...pod, status });
      assert.match(await shell.ok('get pod web -o wide'), /^web +1\/1 +Running +2 +\d+s +10\.0\.0\.7 /m);
      assert.equal(await shell.ok('get pods --field-selector=status.phase=Running -o name'), 'pod/web\n');
      assert.equal(await shell.ok('get pods --field-selector=status.phase!=Running -o name'), '');
    });
  });

  describe('events', () => {
    test('get events shows them, in both groups', async () => {
      await using shell = await open();
      await shell.ok('create -f -', event('one.seen', shell.namespace, 'one'));
      const [head, row = ''] = linesOf(await shell.ok('get events'));
      assert.deepEqual(columnsOf(head), ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']);
      assert.deepEqual(columnsOf(row).slice(1), ['Normal', 'Seen', 'configmap/one', 'one was looked at']);
      assert.match(await shell.ok('get events.v1.events.k8s.io'), /configmap\/one +one was looked at$/m);
      const picked = 'get events -o name --field-selector=involvedObject.name=';
      assert.equal(await shell.ok(`${picked}one,reason=Seen`), 'event/one.seen\n');
      assert.equal(await shell.ok(`${picked}two`), '');
    });

    if (minor >= 26) {
      test('the command events shows those about one object', async () => {
        await using shell = await open();
        await shell.ok('create -f -', event('one.seen', shell.namespace, 'one'));
        await shell.ok('create -f -', event('two.seen', shell.namespace, 'two'));
        const rows = linesOf(await shell.ok('events --for=configmap/two --no-headers'));
        assert.deepEqual(
          rows.map((row) => columnsOf(row).at(-1)),
          ['two was looked at'],
        );
      });
    }
  });
}
