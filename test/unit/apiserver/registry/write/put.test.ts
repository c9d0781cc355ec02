import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leaseKind, namespaceKind, nodeKind, StatusError } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';

const context = { user: controlPlaneUser, dryRun: false };
const place = { namespace: 'default', name: 'a' };
const lease = (holderIdentity: string) => ({ metadata: { name: 'a' }, spec: { holderIdentity } });
const may = () => Promise.resolve();

async function prepare() {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);
  return { storage, registry, leases: registry.of(leaseKind), [Symbol.asyncDispose]: () => storage.close() };
}

const isReason = (reason: string) => (error: unknown) =>
  error instanceof StatusError && error.reason === reason;

describe('a PUT of what is not there', () => {
  test('asks whether the caller may create, once there is nothing to replace, and creates nothing otherwise', async () => {
    await using world = await prepare();
    const refused = new StatusError('Forbidden', 'no');
    const mayNot = () => Promise.reject(refused);
    await assert.rejects(world.leases.put(place, lease('x'), context, mayNot), isReason('Forbidden'));
    assert.throws(() => world.leases.get('default', 'a'), isReason('NotFound'));
    const made = await world.leases.put(place, lease('x'), context, may);
    assert.equal(made.created, true);
    const known = world.leases.encoding.read(made.stored);
    const again = await world.leases.put(place, { ...known, spec: { holderIdentity: 'y' } }, context, mayNot);
    assert.equal(again.created, false, 'whoever replaces is not asked');
  });

  test('is NotFound where the kind does not allow it, and nobody is asked', async () => {
    await using world = await prepare();
    const mayNot = () => Promise.reject(new Error('asked'));
    const put = world.registry
      .of(nodeKind)
      .put({ namespace: '', name: 'a' }, { metadata: { name: 'a' } }, context, mayNot);
    await assert.rejects(put, isReason('NotFound'));
  });

  test('that races with others: one creates, and the others are told that they know too little', async () => {
    await using world = await prepare();
    const puts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => world.leases.put(place, lease(`${index}`), context, may)),
    );
    const made = puts.filter((put) => put.status === 'fulfilled');
    assert.equal(made.length, 1);
    for (const put of puts) {
      if (put.status === 'rejected') assert.ok(isReason('Invalid')(put.reason), String(put.reason));
    }
  });

  test('goes through when the object comes or goes while it asks', async () => {
    await using world = await prepare();
    const meanwhile = async () => {
      await world.leases.create('default', lease('first'), context);
      await world.leases.delete('default', 'a', {}, context);
    };
    const { created } = await world.leases.put(place, lease('x'), context, meanwhile);
    assert.equal(created, true);
  });
});
