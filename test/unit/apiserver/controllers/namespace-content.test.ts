import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leaseKind, namespaceKind, StatusError } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { emptyNamespace } from '../../../../src/apiserver/controllers/namespace-content.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { Write } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { atDeletion, interleavedStore } from './interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** A namespace with so many leases in it; whoever empties it is interrupted before each of its writes. */
async function filled(count: number, meanwhile: (write: Write) => Promise<unknown> | unknown) {
  const options = { clock: systemClock, log: silentLogger() };
  const storage = await createCache(await openStore({ kind: 'memory', clock: systemClock }), options);
  const registryOn = (seen: typeof storage) =>
    createRegistry({ storage: seen, clock: systemClock, groupSuffix: 'k8s.io', admission: [] });
  const leases = registryOn(storage).of(leaseKind);
  await registryOn(storage)
    .of(namespaceKind)
    .create('', { metadata: { name: 'x' } }, context);
  const create = (name: string) => leases.create('x', { metadata: { name } }, context);
  for (let index = 0; index < count; index += 1) await create(`lease-${index}`);
  const seen = registryOn(interleavedStore(storage, meanwhile));
  const contents = seen.resources.filter(({ kind }) => kind.kind === 'Lease');
  return {
    create,
    remove: (name: string) => leases.delete('x', name, {}, context),
    uidOf: (name: string) => leases.encoding.read(leases.get('x', name)).metadata?.uid,
    count: () => storage.list(leases.prefix('x'), '', 0).items.length,
    empty: (goOn: () => boolean) => emptyNamespace(contents, 'x', goOn),
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

describe('emptying a namespace', () => {
  test('takes what it has found, not what has come to its name since', async () => {
    let uidSince: string | undefined;
    const key = '/registry/leases/x/lease-1';
    const remake = atDeletion(key, async () => {
      await space.remove('lease-1');
      await space.create('lease-1');
      uidSince = space.uidOf('lease-1');
    });
    await using space = await filled(3, remake);
    const emptied = space.empty(() => true);
    await assert.rejects(emptied, (error) => error instanceof StatusError && error.reason === 'Conflict');
    assert.ok(uidSince !== undefined);
    assert.equal(space.uidOf('lease-1'), uidSince);
    assert.equal(space.count(), 1);
  });

  test('ends at once when the namespace lives again', async () => {
    let isAlive = false;
    await using space = await filled(40, () => {
      isAlive = true;
    });
    await space.empty(() => !isAlive);
    assert.equal(space.count(), 39, 'but for the one that was being deleted');
  });
});
