import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRecord } from '../../../../src/api/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';

/** Jobs and CronJobs. There are no nodes: the suite says of each pod how it ended, as an agent would. */
export function jobsSuite(open: OpenShell, { minor }: Release): void {
  describe('a job', () => {
    test('is made, waited for and described', async () => {
      await using shell = await open();
      assert.equal(await shell.ok('create job once --image=busybox'), 'job.batch/once created\n');
      await endPods(shell, 'Succeeded');
      await shell.ok('wait --for=condition=complete job/once --timeout=20s');
      assert.match(await shell.ok('get job once'), /1\/1/);
      const description = await shell.ok('describe job once');
      assert.match(description, /1 Succeeded/);
      assert.match(description, /SuccessfulCreate .* Created pod: once-\w+/);
      assert.match(description, /Completed .* Job completed/);
    });

    test('that fails says why', async () => {
      await using shell = await open();
      await shell.ok('create -f -', job({ backoffLimit: 0 }));
      await endPods(shell, 'Failed');
      await shell.ok('wait --for=condition=failed job/once --timeout=20s');
      assert.match(await shell.ok('describe job once'), /BackoffLimitExceeded/);
    });

    test('is suspended and resumed', async () => {
      await using shell = await open();
      await shell.ok('create -f -', job({ suspend: true }));
      await shell.ok('wait --for=condition=suspended job/once --timeout=20s');
      assert.equal(await shell.ok('get pods -o name'), '');
      await shell.ok(['patch', 'job', 'once', '-p', '{"spec":{"suspend":false}}']);
      await waitFor('its pod', async () => (await shell.ok('get pods -o name')) !== '');
    });

    test('takes its pods with it, or leaves them without its finalizer', async () => {
      await using shell = await open();
      for (const cascade of ['background', 'foreground', 'orphan']) {
        await shell.ok('create job once --image=busybox');
        await waitFor('its pod', async () => (await shell.ok('get pods -o name')) !== '');
        await shell.ok(`delete job once --cascade=${cascade}`);
        if (cascade === 'orphan') {
          const finalizers = 'get pods -o jsonpath={.items[*].metadata.finalizers}';
          await waitFor('the pod alone', async () => (await shell.ok(finalizers)) === '');
          assert.match(await shell.ok('get pods -o name'), /^pod\/once-\w+\n$/);
        } else await waitFor('no pods', async () => (await shell.ok('get pods -o name')) === '');
      }
    });
  });

  describe('a cronjob', () => {
    test('is made, asked for a job at once, and suspended', async () => {
      await using shell = await open();
      if (minor >= 21) {
        // earlier ones ask for batch/v1beta1, which is not served
        const schedule = ['--schedule', '0 0 1 1 *'];
        await shell.ok(['create', 'cronjob', 'yearly', '--image=busybox', ...schedule]);
        await shell.ok('create job now --from=cronjob/yearly');
        await endPods(shell, 'Succeeded');
        await shell.ok('wait --for=condition=complete job/now --timeout=20s');
        const last = 'get cronjob yearly -o jsonpath={.status.lastSuccessfulTime}';
        await waitFor('the time', async () => (await shell.ok(last)) !== '');
      } else await shell.ok('create -f -', cronJob);
      await shell.ok(['patch', 'cronjob.v1.batch', 'yearly', '-p', '{"spec":{"suspend":true}}']);
      assert.match(await shell.ok('get cronjob.v1.batch yearly'), /0 0 1 1 \* .*True/);
      await shell.ok('delete cronjob.v1.batch yearly');
      await waitFor('no pods', async () => (await shell.ok('get jobs,pods -o name')) === '');
    });
  });
}

const template = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
};
const job = (spec: object) => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' } },
  spec: { template, ...spec },
});
const cronJob = {
  ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'yearly' } },
  spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
};

/** Waits for a pod, and says that all have ended. */
async function endPods(shell: Shell, phase: string): Promise<void> {
  await waitFor('a pod', async () => (await shell.ok('get pods -o name')) !== '');
  const list = await shell.get('pods');
  assert.ok(isRecord(list) && Array.isArray(list['items']));
  for (const pod of list['items']) {
    assert.ok(isRecord(pod) && isRecord(pod['metadata']));
    const path = `/api/v1/namespaces/${shell.namespace}/pods/${pod['metadata']['name']}/status`;
    await shell.ok(`replace --raw ${path} -f -`, { ...pod, status: { phase } });
  }
}
