import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { leaseKind, namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import type { ApiRequest } from '../../../../src/apiserver/handlers/index.ts';
import { removeCollection } from '../../../../src/apiserver/handlers/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import {
  allLeases,
  configMaps,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  startServer,
} from '../support/index.ts';

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

  test('is no error when objects come, change and go meanwhile', async () => {
    const path = await filled(200);
    const others = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0
        ? admin.request('DELETE', `${path}/a${index * 3}`)
        : admin.request('POST', path, { body: lease(`b${index}`) }),
    );
    const deletions = [admin.request('DELETE', path), admin.request('DELETE', path)];
    for (const { code, text } of await Promise.all(deletions)) assert.equal(code, 200, text);
    await Promise.all(others);
    assert.ok((await namesIn(path)).every((name) => name?.startsWith('b')));
    await admin.must('DELETE', path);
  });

  test('wants parameters that can be meant', async () => {
    const path = await filled(1);
    for (const query of [
      'limit=abc',
      'limit=-1',
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
    const { storage, registry } = await storedLeases(400);
    const resource = registry.resources.find(({ kind }) => kind.kind === 'Lease');
    assert.ok(resource);
    const client = new AbortController();
    using _listener = storage.onApply(({ next }) => next === null && client.abort());
    const request: ApiRequest = {
      verb: 'deletecollection',
      registry,
      resource,
      namespace: 'default',
      name: '',
      subresource: '',
      query: new URLSearchParams(),
      body: undefined,
      user: controlPlaneUser,
      authorize: () => Promise.resolve(),
      signal: client.signal,
    };
    await assert.rejects(removeCollection(request), /the client went/);
    const left = storage.list(resource.prefix('default'), '', 0).items.length;
    assert.ok(left > 300 && left < 400, `${left} of 400 are left`);
    await storage.close();
  });
});

/** A registry of its own with so many leases. */
async function storedLeases(count: number) {
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const context = { user: controlPlaneUser, dryRun: false };
  await registry.of(namespaceKind).create('', named('default'), context);
  for (let index = 0; index < count; index += 1) {
    await registry.of(leaseKind).create('default', named(`a${index}`), context);
  }
  return { storage, registry };
}
