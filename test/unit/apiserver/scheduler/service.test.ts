/** Pods are given nodes by the control plane, and told why not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Lease, Node, Pod } from '../../../../src/api/index.ts';
import {
  eventKind,
  formatMicroTime,
  leaseKind,
  namespaceKind,
  nodeKind,
  podDisruptionBudgetKind,
  podKind,
  priorityClassKind,
} from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { RunningScheduler, scheduler } from '../../../../src/apiserver/scheduler/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { MetricsRegistry, systemClock } from '../../../../src/base/index.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import { waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** A control plane's store with a scheduler. */
async function prepare(clock: Clock = systemClock) {
  const { log, text } = recordedLog();
  const metrics = new MetricsRegistry();
  const store = await openStore({ kind: 'memory', clock });
  const storage = await createCache(store, { clock, log });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const [pods, nodes, events] = [registry.of(podKind), registry.of(nodeKind), registry.of(eventKind)];
  for (const name of ['ns', 'kube-system'])
    await registry.of(namespaceKind).create('', { metadata: { name } }, context);
  for (const value of [1, 5, 10])
    await registry.of(priorityClassKind).create('', { metadata: { name: `of-${value}` }, value }, context);
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const pod = (name: string): Pod => pods.encoding.read(pods.get('ns', name));
  return {
    registry,
    logged: text,
    countLogged: (line: RegExp) =>
      text()
        .split('\n')
        .filter((each) => line.test(each)).length,
    metric: async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values ?? [],
    pod,
    nodeOf: (name: string) => pod(name).spec?.nodeName,
    whyNot: (name: string) =>
      pod(name).status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message,
    eventCount: () => storage.list(events.prefix('ns'), '', 0).items.length,
    revision: () => storage.revision(),
    eventsOf: (name: string) =>
      storage
        .list(events.prefix('ns'), '', 0)
        .items.map((stored) => events.encoding.read(stored))
        .filter(({ involvedObject }) => involvedObject?.name === name),
    async start() {
      await new Promise<void>((ready) =>
        running.push(
          scheduler({ registry, storage, clock, log, metrics, running: new RunningScheduler() }).run(
            stop.signal,
            ready,
          ),
        ),
      );
    },
    makeNode: (name: string, change: Partial<Node['spec']> = {}, cpu = '2') =>
      nodes.create(
        '',
        {
          metadata: { name, labels: { 'kubernetes.io/hostname': name } },
          spec: change,
          status: {
            allocatable: { cpu, memory: '4Gi', pods: '10' },
            capacity: { cpu, memory: '4Gi', pods: '10' },
          },
        },
        context,
      ),
    makePod: (name: string, cpu = '1', spec: Partial<Pod['spec']> = {}) =>
      pods.create(
        'ns',
        {
          metadata: { name, labels: { app: name } },
          spec: {
            containers: [{ name: 'main', image: 'image', resources: { requests: { cpu } } }],
            ...spec,
          },
        },
        context,
      ),
    async remove(name: string) {
      await pods.delete('ns', name, { gracePeriodSeconds: 0 }, context);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      await storage.close();
    },
  };
}

describe('a pod without a node', () => {
  test('is given one that has room, and an Event says so', async () => {
    await using lab = await prepare();
    await lab.makeNode('small', {}, '500m');
    await lab.makeNode('large');
    await lab.makePod('before');
    await lab.start();
    await lab.makePod('after');
    for (const name of ['before', 'after']) await waitFor('its node', () => lab.nodeOf(name) === 'large');
    await waitFor('its event', () => lab.eventsOf('after').length > 0);
    const [event] = lab.eventsOf('after');
    assert.equal(event?.reason, 'Scheduled');
    assert.equal(event?.message, 'Successfully assigned ns/after to large');
  });

  test('is told why there is none, again when that changes, and is given one when there is', async () => {
    await using lab = await prepare();
    await lab.start();
    await lab.makePod('big', '3');
    await waitFor('the reason', () => lab.whyNot('big') === 'no nodes available to schedule pods');
    await lab.makeNode('one');
    await lab.makeNode('two', { taints: [{ key: 'k', effect: 'NoSchedule' }] });
    await waitFor(
      'the new reason',
      () =>
        lab.whyNot('big') ===
        '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    );
    await lab.makeNode('three', {}, '4');
    await waitFor('its node', () => lab.nodeOf('big') === 'three');
  });

  test('is given the room that others leave', async () => {
    await using lab = await prepare();
    await lab.makeNode('one');
    await lab.start();
    await lab.makePod('first', '2');
    await waitFor('its node', () => lab.nodeOf('first') === 'one');
    await lab.makePod('second', '2');
    await waitFor('the reason', () => /1 Insufficient cpu/.test(lab.whyNot('second') ?? ''));
    await lab.remove('first');
    await waitFor('its node', () => lab.nodeOf('second') === 'one');
  });

  test('ends less important ones where there is no room otherwise', async () => {
    await using lab = await prepare();
    await lab.makeNode('one');
    await lab.start();
    await lab.makePod('low', '2');
    await waitFor('its node', () => lab.nodeOf('low') === 'one');
    await lab.makePod('high', '1', { priorityClassName: 'of-10' });
    await waitFor('its victim to end', () => lab.pod('low').metadata?.deletionTimestamp !== undefined);
    await waitFor('its nomination', () => lab.pod('high').status?.nominatedNodeName === 'one');
    const reason = lab.pod('low').status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(reason?.reason, 'PreemptionByScheduler');
    await lab.remove('low');
    await waitFor('its node', () => lab.nodeOf('high') === 'one');
  });

  test('spares those of a budget that allows no disruption', async () => {
    await using lab = await prepare();
    await lab.registry.of(podDisruptionBudgetKind).create(
      'ns',
      {
        metadata: { name: 'budget' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
      },
      context,
    );
    await lab.makeNode('one');
    await lab.start();
    await lab.makePod('kept', '2');
    await waitFor('its node', () => lab.nodeOf('kept') === 'one');
    await lab.makeNode('two');
    await lab.makePod('free', '2', { priorityClassName: 'of-5' });
    await waitFor('its node', () => lab.nodeOf('free') === 'two');
    await lab.makePod('high', '1', { priorityClassName: 'of-10' });
    await waitFor('its victim to end', () => lab.pod('free').metadata?.deletionTimestamp !== undefined);
    assert.equal(lab.pod('kept').metadata?.deletionTimestamp, undefined);
  });

  test('of another scheduler, or held back by a gate, is left alone', async () => {
    await using lab = await prepare();
    await lab.makeNode('one');
    await lab.makePod('others', '1', { schedulerName: 'other' });
    await lab.makePod('gated', '1', { schedulingGates: [{ name: 'example.com/gate' }] });
    await lab.start();
    await lab.makePod('own');
    await waitFor('a node', () => lab.nodeOf('own') === 'one');
    assert.deepEqual([lab.nodeOf('others'), lab.nodeOf('gated')], [undefined, undefined]);
  });

  test('is left to the scheduler of the reference while that holds its Lease, as often as it does', async () => {
    let nowMs = Date.now();
    await using lab = await prepare({ ...fastClock(50), now: () => nowMs });
    await lab.makeNode('one');
    const spec = () => ({
      holderIdentity: 'theirs',
      leaseDurationSeconds: 15,
      renewTime: formatMicroTime(nowMs),
    });
    const leases = lab.registry.of(leaseKind);
    await leases.create('kube-system', { metadata: { name: 'kube-scheduler' }, spec: spec() }, context);
    await lab.makePod('first');
    await lab.start();
    await waitFor('it to stand back', () => lab.countLogged(/stands back/) === 1);
    assert.equal(lab.nodeOf('first'), undefined);
    nowMs += 16_000;
    await waitFor('its node', () => lab.nodeOf('first') === 'one');

    const make = (lease: Lease) => ({ ...lease, spec: spec() });
    const place = { namespace: 'kube-system', name: 'kube-scheduler' };
    await leases.change(place, { make, operation: 'Update' }, '', context);
    await lab.makePod('second', '1', { priorityClassName: 'of-5' });
    await waitFor('it to stand back again', () => lab.countLogged(/stands back/) === 2);
    assert.equal(lab.nodeOf('second'), undefined);
    nowMs += 16_000;
    await waitFor('its node', () => lab.nodeOf('second') === 'one');
    assert.equal(lab.countLogged(/goes on/), 2);
  });
});

describe('pods that wait', () => {
  test('are counted by why they do, and the tries by what came of them', async () => {
    await using lab = await prepare();
    await lab.makeNode('one');
    await lab.makePod('gated', '1', { schedulingGates: [{ name: 'example.com/gate' }] });
    await lab.makePod('others', '1', { schedulerName: 'other' });
    await lab.makePod('big', '3');
    await lab.makePod('low', '2');
    await lab.start();
    await waitFor('its node', () => lab.nodeOf('low') === 'one');
    const pending = async () => {
      const values = await lab.metric('scheduler_pending_pods');
      return Object.fromEntries(values.map(({ labels, value }) => [labels['queue'], value]));
    };
    await waitFor('the queues', async () => (await pending())['unschedulable'] === 1);
    assert.deepEqual(await pending(), { active: 0, backoff: 0, unschedulable: 1, gated: 1 });
    await lab.makePod('high', '2', { priorityClassName: 'of-1' });
    const count = async (name: string, labels: object) =>
      (await lab.metric(name)).find(({ labels: own }) => isDeepStrictEqual(own, labels))?.value ?? 0;
    await waitFor(
      'the preemption',
      async () => (await count('scheduler_preemption_attempts_total', {})) === 1,
    );
    const profile = 'default-scheduler';
    const attempts = (result: string) => count('scheduler_schedule_attempts_total', { result, profile });
    assert.equal(await attempts('scheduled'), 1);
    assert.ok((await attempts('unschedulable')) >= 2);
    await lab.remove('low');
    await waitFor('the room of its victim', async () => (await attempts('scheduled')) === 2);
    await lab.remove('gated');
    assert.equal((await pending())['gated'], 0);
  });

  test('in a crowd where there is no node at all, cost one report each and no line of the log', async () => {
    await using lab = await prepare();
    await lab.start();
    const names = Array.from({ length: 1000 }, (_, index) => `pod-${index}`);
    for (const name of names) await lab.makePod(name);
    await waitFor('all to be reported', () => names.every((name) => lab.whyNot(name) !== undefined));
    await waitFor('all their events', () => lab.eventCount() === names.length);
    const before = await lab.revision();
    await lab.makePod('last'); // what changes of one pod makes nobody look at the others
    await waitFor('it to be reported', () => lab.eventsOf('last').length === 1);
    assert.equal((await lab.revision()) - before, 3, 'the pod, its report, its event');
    assert.equal(lab.logged(), '');
  });
});
