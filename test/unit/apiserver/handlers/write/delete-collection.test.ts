import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { leaseKind, namespaceKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import type { ApiRequest } from '../../../../../src/apiserver/handlers/index.ts';
import { continueTokens, removeCollection } from '../../../../../src/apiserver/handlers/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { interleavedStore } from '../../controllers/interleaved-store.ts';
import {
  allLeases,
  configMaps,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  startServer,
} from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

let spaces = 0;
/** The leases of a new namespace, with so many of them in it: a0, a1, …; every second one is red. */
async function filled(count: number): Promise<string> {
  spaces += 1;
  const path = leases(`space-${spaces}`);
  await admin.must('POST', namespaces, named(`space-${spaces}`));
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      admin.must('POST', path, lease(`a${index}`, index % 2 === 0 ? { labels: { colour: 'red' } } : {})),
    ),
  );
  return path;
}

const namesIn = async (path: string) => (await admin.list(path)).map(({ metadata }) => metadata.name).sort();

describe('the deletion of a collection', () => {
  test('empties it and nothing else, and answers a Status', async () => {
    const path = await filled(5);
    const other = await filled(1);
    const reply = await admin.request('DELETE', path);
    assert.equal(reply.code, 200);
    assert.deepEqual(JSON.parse(reply.text), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { group: 'coordination.k8s.io', kind: 'leases' },
      code: 200,
    });
    assert.deepEqual(await namesIn(path), []);
    assert.deepEqual(await namesIn(other), ['a0']);
    assert.equal((await admin.request('DELETE', path)).code, 200, 'again');
  });

  test('goes on over more than a page', async () => {
    const path = await filled(1200);
    assert.equal((await admin.request('DELETE', path)).code, 200);
    assert.deepEqual(await namesIn(path), []);
  });

  test('takes only what the selectors mean', async () => {
    const path = await filled(6);
    await admin.must('DELETE', `${path}?fieldSelector=metadata.name%3Da1`);
    assert.deepEqual(await namesIn(path), ['a0', 'a2', 'a3', 'a4', 'a5']);
    await admin.must('DELETE', `${path}?labelSelector=colour%3Dred&fieldSelector=metadata.name!%3Da4`);
    assert.deepEqual(await namesIn(path), ['a3', 'a4', 'a5']);
    await admin.refused('BadRequest', 'DELETE', `${path}?labelSelector=%3D%3D`);
    await admin.refused('BadRequest', 'DELETE', `${path}?fieldSelector=spec.nonsense%3Dx`);
    assert.deepEqual(await namesIn(path), ['a3', 'a4', 'a5']);
  });

  test('with a limit takes the first by name', async () => {
    const path = await filled(5);
    await admin.must('DELETE', `${path}?limit=2`);
    assert.deepEqual(await namesIn(path), ['a2', 'a3', 'a4']);
    await admin.must('DELETE', `${path}?limit=1&labelSelector=!colour`);
    assert.deepEqual(await namesIn(path), ['a2', 'a4']);
    await admin.must('DELETE', `${path}?limit=0`);
    assert.deepEqual(await namesIn(path), []);
  });

  test('at an exact version takes what was there then', async () => {
    const path = await filled(2);
    const { metadata } = JSON.parse((await admin.request('GET', path)).text);
    await admin.must('POST', path, lease('later'));
    await admin.must(
      'DELETE',
      `${path}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`,
    );
    assert.deepEqual(await namesIn(path), ['later']);
    await admin.must('DELETE', `${path}?resourceVersion=0`);
    assert.deepEqual(await namesIn(path), []);
  });

  test('deletes as the options say', async () => {
    const path = await filled(2);
    await admin.must('POST', path, lease('held', { finalizers: ['example.com/hold'] }));
    await admin.must('DELETE', `${path}?dryRun=All`);
    await admin.must('DELETE', path, { dryRun: ['All'] });
    assert.deepEqual(await namesIn(path), ['a0', 'a1', 'held']);
    const unlike = { preconditions: { uid: 'another' } };
    await admin.refused('Conflict', 'DELETE', path, { body: unlike });
    assert.deepEqual(await namesIn(path), ['a0', 'a1', 'held']);
    await admin.must('DELETE', path, { propagationPolicy: 'Orphan', gracePeriodSeconds: 0 });
    await waitFor('the others to go', async () => (await namesIn(path)).join() === 'held');
    const held = await admin.must('GET', `${path}/held`);
    assert.notEqual(held.metadata.deletionTimestamp, undefined);
    await admin.must('DELETE', path);
    await admin.must('PUT', `${path}/held`, {
      ...held,
      metadata: {
        ...held.metadata,
        finalizers: [],
        resourceVersion: (await admin.must('GET', `${path}/held`)).metadata.resourceVersion,
      },
    });
  });

  test('takes what was there at its start when objects come, change and go meanwhile', async () => {
    await using world = await storedLeases(200, async (world) => {
      for (let index = 0; index < 20; index += 1) {
        await world.create(`b${index}`);
        await world.change(`a${100 + index}`);
        await world.remove(`a${150 + index}`);
      }
    });
    await Promise.all([removeCollection(world.request()), removeCollection(world.request())]);
    const come = Array.from({ length: 20 }, (_, index) => `b${index}`);
    assert.deepEqual(world.names(), come.sort());
  });

  test('leaves what comes after its start on pages that it has yet to read', async () => {
    await using world = await storedLeases(600, (world) => world.create('late'));
    await removeCollection(world.request());
    assert.deepEqual(world.names(), ['late']);
  });

  test('leaves what comes to the name of one that it has read', async () => {
    let uidSince: string | undefined;
    await using world = await storedLeases(3, async (world, key) => {
      const name = key.slice(key.lastIndexOf('/') + 1);
      await world.remove(name);
      await world.create(name);
      uidSince = world.uidOf(name);
    });
    await removeCollection(world.request());
    assert.equal(world.names().length, 1);
    assert.ok(uidSince !== undefined);
    assert.equal(world.uidOf(world.names()[0] ?? ''), uidSince);
  });

  test('wants parameters that can be meant', async () => {
    const path = await filled(1);
    for (const query of [
      'limit=abc',
      'timeoutSeconds=soon',
      'continue=nonsense',
      'continue=nonsense&resourceVersion=7',
      'resourceVersion=x',
    ]) {
      await admin.refused('BadRequest', 'DELETE', `${path}?${query}`);
    }
    for (const [query, field] of [
      ['resourceVersionMatch=Exact', 'resourceVersionMatch'],
      ['resourceVersionMatch=Perhaps&resourceVersion=1', 'resourceVersionMatch'],
      ['sendInitialEvents=false', 'sendInitialEvents'],
    ] as const) {
      const { details } = await admin.refused('Invalid', 'DELETE', `${path}?${query}`);
      assert.equal(details?.kind, 'ListOptions');
      assert.equal(details?.causes?.[0]?.field, field);
    }
    assert.equal(
      (await admin.request('DELETE', `${path}?timeoutSeconds=60&pretty=true&unknown=1`)).code,
      200,
    );
  });

  test('is not for all namespaces at once, nor for namespaces', async () => {
    const path = await filled(1);
    for (const [collection, allow] of [
      [allLeases, 'GET'],
      [namespaces, 'GET, POST'],
    ] as const) {
      const { reply } = await admin.refused('MethodNotAllowed', 'DELETE', collection);
      assert.equal(reply.headers.allow, allow);
    }
    assert.deepEqual(await namesIn(path), ['a0']);
  });

  test('needs the verb deletecollection', async () => {
    const node = await server.node('node-x');
    const { message } = await node.refused('Forbidden', 'DELETE', nodes);
    assert.match(message ?? '', /cannot deletecollection resource "nodes"/);
    await server.stranger.refused('Forbidden', 'DELETE', configMaps('default'));
  });

  test('ends with the client', async () => {
    await using world = await storedLeases(400);
    const client = new AbortController();
    using _listener = world.storage.follow('', ({ next }) => next === null && client.abort());
    await assert.rejects(removeCollection(world.request(client.signal)), /the client went/);
    const left = world.names().length;
    assert.ok(left > 300 && left < 400, `${left} of 400 are left`);
  });
});

/** So many leases, a0, a1, …, in a store of their own. */
interface StoredLeases extends AsyncDisposable {
  storage: CachedStore;
  /** Of all leases. */
  names(): string[];
  uidOf(name: string): string | undefined;
  create(name: string): Promise<unknown>;
  change(name: string): Promise<unknown>;
  remove(name: string): Promise<unknown>;
  /** A request for the deletion of all leases. */
  request(signal?: AbortSignal): ApiRequest;
}

/** Before the first write of whoever deletes them something else may happen. */
async function storedLeases(
  count: number,
  meanwhile: (world: StoredLeases, key: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<StoredLeases> {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registryOn = (seen: CachedStore) =>
    createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
  const context = { user: controlPlaneUser, dryRun: false };
  await registryOn(storage).of(namespaceKind).create('', named('default'), context);
  const held = registryOn(storage).of(leaseKind);
  let first: Promise<unknown> | undefined;
  const seen = registryOn(
    interleavedStore(storage, ({ key }) => {
      first ??= meanwhile(world, key);
      return first;
    }),
  );
  const resource = seen.resources.find(({ kind }) => kind.kind === 'Lease');
  assert.ok(resource);
  const world: StoredLeases = {
    storage,
    names: () =>
      storage
        .list(held.prefix('default'), '', 0)
        .items.map((stored) => held.encoding.read(stored).metadata?.name ?? ''),
    uidOf: (name) => held.encoding.read(held.get('default', name)).metadata?.uid,
    create: (name) => held.create('default', named(name), context),
    change: (name) =>
      held.changeMetadata(
        { namespace: 'default', name },
        world.uidOf(name) ?? '',
        (metadata) => ({ ...metadata, labels: { colour: 'blue' } }),
        context,
      ),
    remove: (name) => held.delete('default', name, {}, context),
    request: (signal = new AbortController().signal) => ({
      verb: 'deletecollection',
      registry: seen,
      resource,
      namespace: 'default',
      name: '',
      subresource: '',
      query: new URLSearchParams(),
      body: undefined,
      user: controlPlaneUser,
      authorize: () => Promise.resolve(),
      continueTokens: continueTokens(new Uint8Array(32), clock),
      clock,
      signal: () => signal,
    }),
    [Symbol.asyncDispose]: () => storage.close(),
  };
  for (let index = 0; index < count; index += 1) await world.create(`a${index}`);
  return world;
}
