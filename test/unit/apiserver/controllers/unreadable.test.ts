/** What is decided where an object is in the store and cannot be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  leaseKind,
  namespaceKind,
  nodeKind,
  secretKind,
  serviceAccountKind,
} from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createLiveNodes } from '../../../../src/apiserver/controllers/certificate-signer/live-nodes.ts';
import { ensureSystemNamespaces } from '../../../../src/apiserver/controllers/index.ts';
import { Candidate } from '../../../../src/apiserver/leader-election/candidate.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createTokenObjects } from '../../../../src/apiserver/reviews/token-bound-objects.ts';
import { listServerNames } from '../../../../src/apiserver/server-leases/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { VeiledStore } from '../../../contract/storage/veiled-store.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const context = { user: controlPlaneUser, dryRun: false };
const groupSuffix = 'k8s.io';

async function prepare() {
  const clock = createManualClock();
  const other = await openStore({ kind: 'memory', clock });
  const storage = await createCache(new VeiledStore(other), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix, admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  return {
    clock,
    storage,
    registry,
    /** Another program writes what cannot be read; resolves when it is known here. */
    async veil(key: string): Promise<void> {
      const expect = storage.get(key)?.revision ?? 0;
      const outcome = await other.commit({ key, expect, value: Buffer.from('?') });
      assert.ok(outcome.ok);
      await storage.waitFor(outcome.revision, AbortSignal.timeout(5_000));
    },
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

test('a leader’s Lease that cannot be read is neither held nor taken over, and the candidate says why', async () => {
  for (const wasKnown of [false, true]) {
    await using world = await prepare();
    const { clock, storage, registry } = world;
    const place = { namespace: 'kube-system', name: 'leader' };
    const key = '/registry/leases/kube-system/leader';
    if (wasKnown) {
      const spec = { holderIdentity: 'other', leaseDurationSeconds: 10 };
      await registry.of(leaseKind).create(place.namespace, { metadata: place, spec }, context);
    }
    await world.veil(key);
    using candidate = new Candidate({ registry, storage, clock, ...place, identity: 'me', leaseMs: 10_000 });
    await clock.advance(60_000);
    await assert.rejects(candidate.claim(), /leases.*leader.* cannot be read: it is veiled/);
    assert.ok(storage.unreadable(key).length === 1);
  }
});

test('the names of a server whose Lease cannot be read are not given away', async () => {
  await using world = await prepare();
  assert.deepEqual(listServerNames(world.registry), []);
  await world.veil('/registry/leases/kube-system/nodeward-apiserver-x');
  assert.throws(() => listServerNames(world.registry), /names of a server are not known: .*it is veiled/);
});

test('a node whose Lease or object cannot be read counts as alive', async () => {
  await using world = await prepare();
  const { findSignOfLife } = createLiveNodes(world);
  assert.equal(findSignOfLife('a'), undefined);
  await world.veil('/registry/nodes/a');
  await world.veil('/registry/leases/kube-node-lease/b');
  assert.match(findSignOfLife('a') ?? '', /\/registry\/nodes\/a cannot be read, and node a may be alive/);
  assert.match(findSignOfLife('b') ?? '', /kube-node-lease\/b cannot be read/);
});

test('what a token refers to is not gone because it cannot be read', async () => {
  await using world = await prepare();
  const { find } = createTokenObjects(() => world.registry);
  const account = { metadata: { name: 'a', namespace: 'kube-system' } };
  await world.registry.of(serviceAccountKind).create('kube-system', account, context);
  const known = find('ServiceAccount', 'kube-system', 'a');
  assert.ok(typeof known === 'object');
  await world.veil('/registry/serviceaccounts/kube-system/a');
  assert.deepEqual(find('ServiceAccount', 'kube-system', 'a'), known, 'its last readable state');
  await world.veil('/registry/secrets/kube-system/s');
  assert.equal(find('Secret', 'kube-system', 's'), 'unreadable');
  assert.equal(find('Secret', 'kube-system', 'none'), undefined);
});

test('a system namespace that cannot be read stops the start, and names the key', async () => {
  await using world = await prepare();
  await ensureSystemNamespaces(world.registry);
  await world.veil('/registry/namespaces/kube-system');
  await assert.rejects(ensureSystemNamespaces(world.registry), {
    name: 'ExitError',
    message: /cannot start: \/registry\/namespaces\/kube-system in the store cannot be read: it is veiled/,
  });
});

test('an object is not changed by patches of the control plane’s own parts either', async () => {
  await using world = await prepare();
  const secrets = world.registry.of(secretKind);
  await secrets.create('kube-system', { metadata: { name: 's', namespace: 'kube-system' } }, context);
  await world.veil('/registry/secrets/kube-system/s');
  const place = { namespace: 'kube-system', name: 's' };
  await assert.rejects(
    secrets.changeMetadata(place, 'u', (metadata) => metadata, context),
    /cannot be read/,
  );
  const nodes = world.registry.of(nodeKind);
  await world.veil('/registry/nodes/n');
  await assert.rejects(nodes.create('', { metadata: { name: 'n' } }, context), { reason: 'AlreadyExists' });
});
