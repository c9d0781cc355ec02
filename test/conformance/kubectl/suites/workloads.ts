import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRecord } from '../../../../src/api/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';

/** The pods of Deployments, as there are no nodes: the suite says of each that it is ready, as an agent would. */
export function workloadsSuite(open: OpenShell, { minor }: Release): void {
  describe('a deployment', () => {
    test('is made, rolled out, paused, undone and restarted', async () => {
      await using shell = await open();
      assert.equal(
        await shell.ok('create deployment web --image=busybox:1'),
        'deployment.apps/web created\n',
      );
      assert.match(await shell.ok('rollout status deployment/web --watch=false'), /^Waiting for deployment /);
      await untilRolledOut(shell);
      assert.match(await shell.ok('get deployment web'), /^web +1\/1 +1 +1 /m);
      assert.match(await shell.ok('get replicasets'), /^web-\w+ +1 +1 +1 /m);

      await shell.ok('set image deployment/web busybox=busybox:2');
      await shell.ok('annotate deployment/web kubernetes.io/change-cause=second');
      await untilRolledOut(shell);
      const history = await shell.ok('rollout history deployment/web');
      assert.match(history, /^1 +<none>\n2 +second$/m);
      assert.match(await shell.ok('rollout history deployment/web --revision=1'), /Image:\s+busybox:1\n/);
      assert.match(
        await shell.ok('describe deployment web'),
        /NewReplicaSet: +web-\w+ \(1\/1 replicas created\)/,
      );

      await shell.ok('rollout pause deployment/web');
      await shell.ok('set image deployment/web busybox=busybox:3');
      assert.equal(await imagesOf(shell), 'busybox:2');
      assert.match(await shell.fails('rollout undo deployment/web'), /paused/);
      await shell.ok('rollout resume deployment/web');
      await untilRolledOut(shell);
      assert.equal(await imagesOf(shell), 'busybox:3');

      assert.match(await shell.ok('rollout undo deployment/web --to-revision=1'), /rolled back/);
      await untilRolledOut(shell);
      assert.equal(await imagesOf(shell), 'busybox:1');
      assert.match(await shell.ok('rollout history deployment/web'), /^2 +second\n3 +second\n4 +/m);

      const before = await shell.ok('get pods -o name');
      assert.match(await shell.ok('rollout restart deployment/web'), /restarted/);
      await untilRolledOut(shell);
      assert.notEqual(await shell.ok('get pods -o name'), before);
    });

    test('is scaled, exposed and scaled by nobody for its load', async () => {
      await using shell = await open();
      await shell.ok('create deployment web --image=busybox --port=80');
      await shell.ok('scale deployment/web --replicas=3 --current-replicas=1');
      await untilRolledOut(shell);
      assert.match(await shell.ok('get deployment web'), /^web +3\/3 +3 +3 /m);
      assert.match(await shell.ok('expose deployment/web'), /^service\/web exposed/);
      assert.deepEqual(await shell.pick('service web', '.spec.selector'), { app: 'web' });
      const limit = minor >= 34 ? '--cpu=50%' : '--cpu-percent=50';
      await shell.ok(`autoscale deployment/web --min=1 --max=5 ${limit}`);
      assert.equal(await shell.pick('hpa web', '.spec.maxReplicas'), 5);
      assert.match(await shell.ok('get all'), /replicaset\.apps\/web-/);
      await shell.ok('scale deployment/web --replicas=0');
      await waitFor('no pods', async () => (await shell.ok('get pods -o name')) === '');
    });

    test('takes its pods with it, or leaves them as they are', async () => {
      await using shell = await open();
      for (const [cascade, rest] of [
        ['', /^$/],
        ['--cascade=foreground', /^$/],
        ['--cascade=orphan', /^replicaset\.apps\/web-\w+\npod\/web-\w+-\w+\n$/],
      ] as const) {
        await shell.ok('create deployment web --image=busybox');
        await untilRolledOut(shell);
        await shell.ok(`delete deployment web ${cascade}`.trim());
        await waitFor('what stays', async () => rest.test(await shell.ok('get replicasets,pods -o name')));
      }
      // and the next one of its template takes over what is left
      const left = await shell.ok('get replicasets,pods -o name');
      await shell.ok('create deployment web --image=busybox');
      await untilRolledOut(shell);
      assert.equal(await shell.ok('get replicasets,pods -o name'), left);
    });

    test('that hangs says so, and why', async () => {
      await using shell = await open();
      await shell.ok('create deployment web --image=busybox');
      await shell.ok(['patch', 'deployment', 'web', '-p', '{"spec":{"progressDeadlineSeconds":1}}']);
      assert.match(await shell.fails('rollout status deployment/web'), /exceeded its progress deadline/);
      const message = 'get deployment web -o jsonpath={.status.conditions[?(@.type=="Progressing")].message}';
      assert.match(
        await shell.ok(message),
        /^ReplicaSet "web-\w+" has timed out progressing\. Pod "web-\w+-\w+": /,
      );
    });
  });
}

/** Says of its pods that they are ready until kubectl says that it is rolled out. */
async function untilRolledOut(shell: Shell): Promise<void> {
  await waitFor(
    'the rollout',
    async () => {
      await reportReady(shell);
      return /successfully rolled out/.test(await shell.ok('rollout status deployment/web --watch=false'));
    },
    { timeoutMs: 30_000 },
  );
}

async function reportReady(shell: Shell): Promise<void> {
  const list = await shell.get('pods');
  assert.ok(isRecord(list) && Array.isArray(list['items']));
  for (const pod of list['items']) {
    if (!isRecord(pod) || !isRecord(pod['metadata']) || !isRecord(pod['status'])) continue;
    if (pod['status']['phase'] === 'Running') continue;
    const path = `/api/v1/namespaces/${shell.namespace}/pods/${pod['metadata']['name']}/status`;
    const ready = {
      type: 'Ready',
      status: 'True',
      lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
    };
    // it may have changed meanwhile, or be gone: it is looked at again
    await shell.run(`replace --raw ${path} -f -`, {
      ...pod,
      status: { phase: 'Running', conditions: [ready] },
    });
  }
}

async function imagesOf(shell: Shell): Promise<string> {
  return await shell.ok('get pods -o jsonpath={.items[*].spec.containers[*].image}');
}
