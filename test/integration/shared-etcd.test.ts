/** The controllers beside another program that writes to the same etcd: nothing is deleted because it cannot be read. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  clusterRoleKind,
  leaseKind,
  namespaceKind,
  nodeKind,
  podKind,
  secretKind,
  serviceAccountKind,
} from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import type { LabEtcd } from './lab/etcd.ts';
import { startEtcd } from './lab/etcd.ts';
import type { Rewriting } from './shared-etcd/world.ts';
import { SharedWorld } from './shared-etcd/world.ts';

const rewritings: readonly Rewriting[] = ['protobuf', 'encrypted', 'damaged'];

let etcd: LabEtcd;
before(async () => {
  etcd = await startEtcd();
});
after(() => etcd[Symbol.asyncDispose]());

async function opened(): Promise<SharedWorld> {
  const world = await SharedWorld.open(etcd);
  await world.create(namespaceKind, '', { metadata: { name: 'default' } });
  return world;
}

const secret = (name: string, namespace: string, more: object = {}) => ({
  metadata: { name, namespace, ...more },
});

for (const how of rewritings) {
  describe(`an object that another server rewrote, ${how}`, { timeout: 60_000 }, () => {
    test('a namespace keeps all that is in it', async () => {
      await using world = await opened();
      await world.start();
      for (const name of ['loss', 'control']) {
        await world.create(namespaceKind, '', { metadata: { name } });
        await world.create(secretKind, name, secret('gold', name));
      }
      const account = () => world.exists(serviceAccountKind, 'loss', 'default');
      await waitFor('the default service account', account);
      await world.rewrite(namespaceKind, '', 'loss', how);
      await world.create(secretKind, 'loss', secret('later', 'loss'));
      await world.delete(namespaceKind, '', 'control');
      await waitFor('the other one to go', async () => !(await world.exists(namespaceKind, '', 'control')));
      for (const name of ['gold', 'later']) assert.ok(await world.exists(secretKind, 'loss', name), name);
      assert.ok(await account());
      assert.ok(await world.exists(namespaceKind, '', 'loss'));
    });

    test('an owner keeps its dependents', async () => {
      await using world = await opened();
      await world.start();
      for (const name of ['owner', 'control']) {
        const { metadata } = await world.create(secretKind, 'default', secret(name, 'default'));
        const owner = { apiVersion: 'v1', kind: 'Secret', name, uid: metadata?.uid ?? '' };
        const dependent = secret(`of-${name}`, 'default', { ownerReferences: [owner] });
        await world.create(secretKind, 'default', dependent);
      }
      await world.rewrite(secretKind, 'default', 'owner', how);
      await world.rewrite(secretKind, 'default', 'of-owner', 'protobuf'); // looked at again
      await world.delete(secretKind, 'default', 'control');
      const isThere = (name: string) => world.exists(secretKind, 'default', name);
      await waitFor('the other dependent to go', async () => !(await isThere('of-control')));
      assert.ok((await isThere('owner')) && (await isThere('of-owner')));
    });

    test('a node keeps its pods', async () => {
      await using world = await opened();
      await world.start();
      await world.createNodeWithPod('gcnode');
      await world.createPod('control', 'nowhere');
      await world.rewrite(nodeKind, '', 'gcnode', how);
      const isThere = (name: string) => world.exists(podKind, 'default', name);
      await waitFor('the other pod to go', async () => !(await isThere('control')), { timeoutMs: 20_000 });
      assert.ok(await isThere('on-gcnode'));
      assert.doesNotMatch(world.log, /on-gcnode.*its node does not exist/);
    });

    if (how === 'protobuf') return; // a Lease in protobuf is read like any other
    test('a node whose Lease is rewritten again and again is not given up', async () => {
      await using world = await opened();
      await world.create(namespaceKind, '', { metadata: { name: 'kube-node-lease' } });
      await world.start();
      for (const name of ['renewed', 'silent', 'ready']) {
        await world.createNodeWithPod(name);
        const spec = { holderIdentity: name, renewTime: '2026-01-02T03:04:05.000000Z' };
        await world.create(leaseKind, 'kube-node-lease', { metadata: { name }, spec });
      }
      await world.rewrite(leaseKind, 'kube-node-lease', 'renewed', how);
      const isThere = (name: string) => world.exists(podKind, 'default', name);
      const gone = async () => !(await isThere('on-silent'));
      const node = (name: string) => {
        const nodes = world.registry.of(nodeKind);
        return JSON.stringify(nodes.encoding.read(nodes.get('', name)));
      };
      await waitFor(
        'the silent node to be tainted',
        async () => /unreachable/.test(node('silent')) || (await gone()),
        {
          timeoutMs: 20_000,
        },
      );
      assert.doesNotMatch(node('renewed'), /unreachable|Unknown/);
      assert.ok(await isThere('on-renewed'));
    });
  });
}

describe('a namespace in deletion', { timeout: 60_000 }, () => {
  const conditionsOf = (world: SharedWorld, name: string) => {
    const namespaces = world.registry.of(namespaceKind);
    return namespaces.encoding.read(namespaces.get('', name)).status?.conditions ?? [];
  };

  test('stays while another program keeps objects of kinds in it that are not served here', async () => {
    await using world = await opened();
    await world.start();
    await world.create(namespaceKind, '', { metadata: { name: 'lk' } });
    await world.create(secretKind, 'lk', secret('gold', 'lk'));
    const keys = [
      'leasecandidates/lk/d',
      'example.com/gadgets/lk/s',
      'example.com/gadgets/lk/t',
      'example.com/widgets/lk/w',
    ];
    const full = keys.map((key) => `${world.prefix}/${key}`);
    await world.raw.put(...full.map((key) => [key, '{"kind":"Any","apiVersion":"v1"}'] as const));
    await world.delete(namespaceKind, '', 'lk');
    const remaining = () =>
      conditionsOf(world, 'lk').find(({ type }) => type === 'NamespaceContentRemaining');
    const found = await waitFor('the condition', async () => remaining());
    assert.equal(found.status, 'True');
    const of = (folder: string, count: number) =>
      `${folder} has ${count} resource instances of a kind that is not served here`;
    assert.equal(
      found.message,
      `Some resources are remaining: ${of('example.com/gadgets', 2)}, ${of('example.com/widgets', 1)}, ${of('leasecandidates', 1)}`,
    );
    assert.ok(!(await world.exists(secretKind, 'lk', 'gold')), 'what is served is deleted');
    await world.raw.remove(...full.slice(1));
    await waitFor('the rest', async () => /: leasecandidates has 1 [^,]*$/.test(remaining()?.message ?? ''));
    await world.raw.remove(...full.slice(0, 1));
    await waitFor('its end', async () => !(await world.exists(namespaceKind, '', 'lk')));
  });

  test('keeps what another controller has reported of the kinds that only that one serves', async () => {
    await using world = await opened();
    const namespaces = world.registry.of(namespaceKind);
    const key = `${world.prefix}/leasecandidates/lk/d`;
    await world.create(namespaceKind, '', { metadata: { name: 'lk' } });
    await world.raw.put([key, '{}']);
    await world.delete(namespaceKind, '', 'lk');
    const condition = {
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: leasecandidates.coordination.k8s.io has 1 resource instances',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    await world.change(namespaces, 'lk', (namespace) => ({
      ...namespace,
      status: { ...namespace.status, conditions: [condition] },
    }));
    await world.start();
    await waitFor('the first look', async () =>
      world.log.includes('something in the namespace lk is not gone'),
    );
    assert.deepEqual(conditionsOf(world, 'lk'), [condition]);
    await world.raw.remove(key);
    await waitFor('its end', async () => !(await world.exists(namespaceKind, '', 'lk')));
  });

  test('stays while something in it cannot be read, and deletes everything else', async () => {
    await using world = await opened();
    await world.start();
    await world.create(namespaceKind, '', { metadata: { name: 'half' } });
    for (const name of ['gold', 'veiled']) await world.create(secretKind, 'half', secret(name, 'half'));
    await world.rewrite(secretKind, 'half', 'veiled', 'encrypted');
    await world.delete(namespaceKind, '', 'half');
    await waitFor('the condition', async () =>
      conditionsOf(world, 'half').some(({ message }) =>
        message?.endsWith('secrets has 1 resource instances that cannot be read'),
      ),
    );
    assert.ok(!(await world.exists(secretKind, 'half', 'gold')));
    assert.ok(await world.exists(secretKind, 'half', 'veiled'));
    await world.raw.remove(`${world.prefix}/secrets/half/veiled`);
    await waitFor('its end', async () => !(await world.exists(namespaceKind, '', 'half')));
  });
});

describe('what cannot be read from the start', { timeout: 60_000 }, () => {
  test('is no absence to any controller', async () => {
    await using world = await opened();
    const enc = 'k8s:enc:secretbox:v1:k:xyz';
    const owner = { apiVersion: 'v1', kind: 'Secret', name: 'owner', uid: 'u' };
    await world.create(namespaceKind, '', { metadata: { name: 'hidden' } });
    await world.create(secretKind, 'hidden', secret('gold', 'hidden'));
    await world.create(secretKind, 'default', secret('dependent', 'default', { ownerReferences: [owner] }));
    await world.createPod('on-hidden', 'hidden');
    await world.create(clusterRoleKind, '', {
      metadata: { name: 'all' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'all' } }] },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    });
    const keys = ['namespaces/hidden', 'secrets/default/owner', 'minions/hidden', 'clusterroles/hidden'];
    await world.raw.put(...keys.map((key) => [`${world.prefix}/${key}`, enc] as const));
    await using late = await world.again(etcd);
    await late.createPod('control', 'nowhere');
    await late.start();
    const isThere = () => late.exists(podKind, 'default', 'control');
    await waitFor('the other pod to go', async () => !(await isThere()), { timeoutMs: 20_000 });
    assert.ok(await late.exists(secretKind, 'hidden', 'gold'));
    assert.ok(await late.exists(secretKind, 'default', 'dependent'));
    assert.ok(await late.exists(podKind, 'default', 'on-hidden'));
    const roles = late.registry.of(clusterRoleKind);
    assert.equal(roles.encoding.read(roles.get('', 'all')).rules?.length, 1, 'no right is taken away');
  });
});
