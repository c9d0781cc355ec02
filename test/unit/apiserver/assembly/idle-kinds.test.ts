/** Objects that nothing acts on are accepted with a warning. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMicroTime, leaseKind, namespaceKind } from '../../../../src/api/index.ts';
import { idleKindAdvice } from '../../../../src/apiserver/assembly/idle-kinds.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

test('a HorizontalPodAutoscaler is warned of while no controller manager renews its Lease, a pod never', async () => {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), {
    clock,
    log: recordedLog().log,
  });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const context = { user: controlPlaneUser, dryRun: false };
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  let nowMs = Date.now();
  const advice = idleKindAdvice(() => registry, { now: () => nowMs }, true);
  const told = (resource: string) => advice(resource, {}).join();
  const idle = /^nothing acts on a HorizontalPodAutoscaler: no kube-controller-manager is at work/;
  assert.match(told('horizontalpodautoscalers'), idle);
  assert.equal(told('pods'), '');
  const spec = { holderIdentity: 'theirs', leaseDurationSeconds: 15, renewTime: formatMicroTime(nowMs) };
  const lease = { metadata: { name: 'kube-controller-manager' }, spec };
  await registry.of(leaseKind).create('kube-system', lease, context);
  assert.equal(told('horizontalpodautoscalers'), '');
  nowMs += 16_000;
  assert.match(told('horizontalpodautoscalers'), idle);
  assert.equal(told('deployments'), '', 'the controllers here act on it');
  const off = idleKindAdvice(() => registry, { now: () => nowMs }, false);
  const isOff =
    "nothing acts on a Deployment: no kube-controller-manager is at work, and nodeward's own is switched off";
  assert.equal(off('deployments', {}).join(), isOff);
  await storage.close();
});
