/** What is said of the parts of the control plane. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatMicroTime, leaseKind, namespaceKind } from '../../../../src/api/index.ts';
import { createComponentStatuses } from '../../../../src/apiserver/assembly/component-statuses.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { startServer } from '../support/index.ts';

const server = await startServer({ workloadControllers: true, scheduler: {} });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

test('is served as the reference serves it, and changed by nobody', async () => {
  const { code, text } = await admin.request('GET', '/api/v1/componentstatuses');
  assert.equal(code, 200);
  assert.match(text, /"kind":"ComponentStatusList"/);
  const one = await admin.must('GET', '/api/v1/componentstatuses/etcd-0');
  assert.deepEqual(Reflect.get(one, 'conditions'), [{ type: 'Healthy', status: 'True', message: 'ok' }]);
  await admin.refused('NotFound', 'GET', '/api/v1/componentstatuses/etcd-1');
});

test('a scheduler is one of ours, or one that renews its Lease; a store that does not answer is told', async () => {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), {
    clock,
    log: recordedLog().log,
  });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const context = { user: controlPlaneUser, dryRun: false };
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  let [nowMs, fault]: [number, string | undefined] = [Date.now(), undefined];
  const read = async (hasScheduler: boolean, name: string) => {
    const storage = { check: () => fault };
    const statuses = createComponentStatuses({
      registry,
      hasScheduler,
      storage,
      clock: { now: () => nowMs },
    });
    const { objects } = await statuses.read({ namespace: '', name, signal: AbortSignal.timeout(5000) });
    return objects[0]?.conditions?.[0];
  };
  const ok = { type: 'Healthy', status: 'True', message: 'ok' };
  assert.deepEqual(await read(true, 'scheduler'), ok);
  assert.match((await read(false, 'scheduler'))?.error ?? '', /^no scheduler is at work/);
  const spec = { holderIdentity: 'theirs', leaseDurationSeconds: 15, renewTime: formatMicroTime(nowMs) };
  const lease = { metadata: { name: 'kube-scheduler' }, spec };
  await registry.of(leaseKind).create('kube-system', lease, context);
  assert.deepEqual(await read(false, 'scheduler'), ok);
  nowMs += 16_000;
  assert.equal((await read(false, 'scheduler'))?.status, 'False');
  fault = 'the disk is gone';
  assert.deepEqual(await read(true, 'etcd-0'), { type: 'Healthy', status: 'False', error: fault });
  await storage.close();
});
