/** What the control plane does for claims and volumes: keeps those in use, and makes claims for ephemeral volumes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject, PersistentVolumeClaim, Pod } from '../../../../src/api/index.ts';
import {
  eventKind,
  namespaceKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  podKind,
} from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import {
  claimProtection,
  ephemeralVolumes,
  volumeProtection,
} from '../../../../src/apiserver/controllers/index.ts';
import type { Resource } from '../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { VeiledStore } from '../../../contract/storage/veiled-store.ts';
import { waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>;

const context = { user: controlPlaneUser, dryRun: false };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** The controllers on a store of their own; they run from `start` on. */
async function prepare() {
  const { log, text } = recordedLog();
  const clock = systemClock;
  const store = await openStore({ kind: 'memory', clock });
  const storage = await createCache(new VeiledStore(store), { clock, log });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const [pods, claims] = [registry.of(podKind), registry.of(persistentVolumeClaimKind)];
  const [volumes, events] = [registry.of(persistentVolumeKind), registry.of(eventKind)];
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  await registry.of(namespaceKind).create('', { metadata: { name: 'ns' } }, context);

  const find = <T extends ApiObject>(resource: Resource<T>, namespace: string, name: string) => {
    const stored = storage.get(resource.prefix(namespace) + name);
    return stored && resource.encoding.read(stored);
  };
  return {
    ...{ store, storage, pods, claims, volumes },
    logged: text,
    claim: (name: string) => find(claims, 'ns', name),
    volume: (name: string) => find(volumes, '', name),
    async start() {
      const options = { registry, storage, clock, log };
      for (const service of [claimProtection(options), volumeProtection(options), ephemeralVolumes(options)])
        await new Promise<void>((ready) => running.push(service.run(stop.signal, ready)));
    },
    makePod: (name: string, volumes: Volumes, nodeName = 'one') =>
      pods.create(
        'ns',
        { metadata: { name }, spec: { nodeName, containers: [{ name: 'main', image: 'app:1' }], volumes } },
        context,
      ),
    makeClaim: (name: string, metadata: ApiObject['metadata'] = {}) =>
      claims.create('ns', { metadata: { ...metadata, name }, spec: claimSpec }, context),
    messages: () =>
      storage.list(events.prefix('ns'), '', 0).items.map((stored) => {
        const { reason, message, type } = events.encoding.read(stored);
        return `${type} ${reason}: ${message}`;
      }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      await storage.close();
    },
  };
}

const withClaim = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }];
const withTemplate = [
  {
    name: 'scratch',
    ephemeral: { volumeClaimTemplate: { metadata: { labels: { app: 'web' } }, spec: claimSpec } },
  },
];
const now = { gracePeriodSeconds: 0 };

describe('a claim that is deleted', () => {
  test('goes at once when no pod uses it', async () => {
    await using world = await prepare();
    await world.makeClaim('data');
    assert.deepEqual(world.claim('data')?.metadata?.finalizers, ['kubernetes.io/pvc-protection']);
    await world.makePod('waiting', withClaim('data'), '');
    await world.makePod('other', withClaim('else'));
    await world.claims.delete('ns', 'data', {}, context);
    assert.ok(world.claim('data'));
    await world.start();
    await waitFor('the claim to go', () => world.claim('data') === undefined);
  });

  test('stays for as long as a pod that a node has taken names it, ended or not', async () => {
    await using world = await prepare();
    await world.makeClaim('data');
    await world.makePod('web', withClaim('data'));
    const status = { phase: 'Succeeded' };
    const ended = (pod: Pod): Pod => ({ ...pod, status: { ...pod.status, ...status } });
    const place = { namespace: 'ns', name: 'web' };
    await world.pods.change(place, { make: ended, operation: 'Update' }, 'status', context);
    await world.start();
    await world.claims.delete('ns', 'data', {}, context);
    await world.makeClaim('unused');
    await world.claims.delete('ns', 'unused', {}, context); // worked on after the other
    await waitFor('the unused claim to go', () => world.claim('unused') === undefined);
    assert.equal(world.claim('data')?.metadata?.finalizers?.length, 1);
    await world.pods.delete('ns', 'web', now, context);
    await waitFor('the claim to go', () => world.claim('data') === undefined);
  });

  test('stays while a pod cannot be read', async () => {
    await using world = await prepare();
    await world.makeClaim('data');
    await world.makePod('web', withClaim('data'));
    const key = `${world.pods.prefix('ns')}web`;
    const value = Buffer.from('?encrypted');
    await world.store.commit({ key, expect: world.storage.get(key)?.revision ?? 0, value });
    await waitFor('the pod to be unreadable', () => world.storage.unreadable(key).length === 1);
    await world.claims.delete('ns', 'data', {}, context);
    await world.start();
    await waitFor('the refusal', () => world.logged().includes('may use the claim data'));
    assert.ok(world.claim('data'));
  });

  test('is protected again when another program has taken the finalizer off', async () => {
    await using world = await prepare();
    await world.makeClaim('data');
    const uid = world.claim('data')?.metadata?.uid ?? '';
    const place = { namespace: 'ns', name: 'data' };
    await world.claims.changeMetadata(place, uid, ({ finalizers: _none, ...rest }) => rest, context);
    await world.start();
    await waitFor('the finalizer', () => world.claim('data')?.metadata?.finalizers?.length === 1);
  });
});

const volumeSpec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };

describe('a volume that is deleted', () => {
  test('stays while it is bound', async () => {
    await using world = await prepare();
    await world.start();
    const make = (name: string) =>
      world.volumes.create(
        '',
        { metadata: { name }, spec: { ...volumeSpec, hostPath: { path: '/data' } } },
        context,
      );
    await make('bound');
    await make('free');
    const phase = (name: string, to: string) =>
      world.volumes.change(
        { namespace: '', name },
        { make: (volume) => ({ ...volume, status: { ...volume.status, phase: to } }), operation: 'Update' },
        'status',
        context,
      );
    await phase('bound', 'Bound');
    await world.volumes.delete('', 'bound', {}, context);
    await world.volumes.delete('', 'free', {}, context);
    await waitFor('the free one to go', () => world.volume('free') === undefined);
    assert.deepEqual(world.volume('bound')?.metadata?.finalizers, ['kubernetes.io/pv-protection']);
    await phase('bound', 'Released');
    await waitFor('the other to go', () => world.volume('bound') === undefined);
  });
});

describe('an ephemeral volume', () => {
  const owner = (claim: PersistentVolumeClaim | undefined) => claim?.metadata?.ownerReferences?.[0];

  test('gets a claim that its pod owns, again when that is deleted', async () => {
    await using world = await prepare();
    await world.makePod('web', withTemplate);
    await world.start();
    await waitFor('the claim', () => world.claim('web-scratch') !== undefined);
    const claim = world.claim('web-scratch');
    const pod = world.storage.get(`${world.pods.prefix('ns')}web`);
    const uid = pod && world.pods.encoding.read(pod).metadata?.uid;
    assert.deepEqual(owner(claim), {
      ...{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid },
      ...{ controller: true, blockOwnerDeletion: true },
    });
    assert.deepEqual(claim?.metadata?.labels, { app: 'web' });
    assert.equal(claim?.status?.phase, 'Pending');
    const first = claim?.metadata?.uid ?? '';
    const place = { namespace: 'ns', name: 'web-scratch' };
    await world.claims.delete('ns', 'web-scratch', {}, context);
    assert.ok(world.claim('web-scratch'), 'the pod uses it');
    await world.claims.changeMetadata(place, first, ({ finalizers: _none, ...rest }) => rest, context);
    await waitFor('another claim', () => (world.claim('web-scratch')?.metadata?.uid ?? first) !== first);
  });

  test('does not take the claim of another', async () => {
    await using world = await prepare();
    await world.makeClaim('web-scratch');
    await world.start();
    await world.makePod('web', withTemplate);
    await waitFor('the Event', () => world.messages().length > 0);
    assert.deepEqual(world.messages(), [
      'Warning FailedBinding: ephemeral volume scratch: PVC ns/web-scratch was not created for pod ns/web (pod is not owner)',
    ]);
    assert.equal(owner(world.claim('web-scratch')), undefined);
    await world.claims.delete('ns', 'web-scratch', {}, context); // its pod does not use it
    await waitFor('the claim of the pod', () => owner(world.claim('web-scratch'))?.name === 'web');
  });
});
