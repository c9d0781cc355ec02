/** What clients are answered about objects that are in the store and cannot be read. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Store } from '../../../../src/apiserver/storage/index.ts';
import { VeiledStore } from '../../../contract/storage/veiled-store.ts';
import { waitFor } from '../../../support/index.ts';
import { configMaps, named, namespaces, startServer } from '../support/index.ts';

const opened: { store?: Store } = {};
const server = await startServer({
  wrapStore(store) {
    opened.store = store;
    return new VeiledStore(store);
  },
});
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const maps = configMaps('default');
const keyOf = (name: string, namespace = 'default') => `/registry/configmaps/${namespace}/${name}`;

/** Another program writes; a text that begins with a question mark cannot be read. */
async function write(key: string, text: string): Promise<void> {
  const { store } = opened;
  assert.ok(store !== undefined);
  const page = await store.listAt(key, await store.revision(), '', 1);
  const expect = typeof page === 'string' ? 0 : (page.items[0]?.revision ?? 0);
  const outcome = await store.commit({ key, expect, value: Buffer.from(text) });
  assert.ok(outcome.ok, JSON.stringify(outcome));
}

async function becomeUnreadable(name: string): Promise<void> {
  await admin.must('POST', maps, named(name, { labels: { of: name } }));
  await write(keyOf(name), '?');
  await waitFor('it is unreadable', async () => (await admin.request('GET', `${maps}/${name}`)).code === 500);
}

async function becomeReadable(name: string): Promise<void> {
  const metadata = { name, namespace: 'default', uid: 'again' };
  await write(keyOf(name), JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata }));
  await waitFor('it is readable', async () => (await admin.request('GET', `${maps}/${name}`)).code === 200);
}

describe('an object that cannot be read', () => {
  test('is answered 500 with its key and the reason; writes change nothing, its name is taken', async () => {
    await becomeUnreadable('a');
    const body = named('a');
    const merge = { body: { data: {} }, headers: { 'content-type': 'application/merge-patch+json' } };
    const typed = { kind: 'ConfigMap', apiVersion: 'v1', ...body };
    const apply = { body: typed, headers: { 'content-type': 'application/apply-patch+yaml' } };
    for (const reply of [
      await admin.request('GET', `${maps}/a`),
      await admin.request('PUT', `${maps}/a`, { body }),
      await admin.request('PATCH', `${maps}/a`, merge),
      await admin.request('PATCH', `${maps}/a?fieldManager=m`, apply),
      await admin.request('DELETE', `${maps}/a`),
      await admin.request('DELETE', `${maps}/a?dryRun=All`),
    ]) {
      assert.equal(reply.code, 500, reply.text);
      assert.match(
        reply.text,
        /configmaps \\"a\\" is in the store as \/registry\/configmaps\/default\/a, but cannot be read: it is veiled/,
      );
    }
    for (const query of ['', '?dryRun=All']) {
      const reply = await admin.request('POST', maps + query, { body });
      assert.equal(reply.code, 409, reply.text);
      assert.match(reply.text, /AlreadyExists/);
      assert.match(reply.text, /already exists, but what is in the store as .* cannot be read: it is veiled/);
    }
    await becomeReadable('a');
    await admin.must('DELETE', `${maps}/a`);
  });

  test('fails the lists that it belongs in, and no others', async () => {
    await admin.must('POST', maps, named('readable'));
    await becomeUnreadable('b');
    const all = '/api/v1/configmaps';
    for (const path of [
      maps,
      all,
      `${maps}?limit=500`,
      `${maps}?resourceVersion=0`,
      `${maps}?labelSelector=of%3Dnobody`,
      `${maps}?fieldSelector=metadata.name%3Db`,
      `${maps}?watch=1`,
    ]) {
      const reply = await admin.request('GET', path);
      assert.equal(reply.code, 500, `${path}: ${reply.text}`);
      assert.match(
        reply.text,
        /1 of the configmaps in the store cannot be read, .*\/default\/b \(it is veiled\)/,
      );
    }
    for (const path of [
      `${maps}/readable`,
      `${maps}?fieldSelector=metadata.name%3Dreadable`,
      configMaps('kube-system'),
      '/api/v1/namespaces/default/secrets',
    ]) {
      assert.equal((await admin.request('GET', path)).code, 200, path);
    }
    const collection = await admin.request('DELETE', maps);
    assert.equal(collection.code, 500, collection.text);
    assert.equal((await admin.request('GET', `${maps}/readable`)).code, 200, 'nothing was deleted');
    await becomeReadable('b');
    assert.equal((await admin.request('GET', maps)).code, 200);
  });

  test('is counted in a metric, by resource', async () => {
    const metric = /nodeward_storage_unreadable_objects\{resource="configmaps"\} (\d+)/;
    const count = async () => metric.exec((await admin.request('GET', '/metrics')).text)?.[1];
    assert.equal(await count(), '0');
    await becomeUnreadable('c');
    assert.equal(await count(), '1');
    await becomeReadable('c');
    assert.equal(await count(), '0');
  });
});

describe('a namespace that cannot be read', () => {
  test('is no missing namespace, and takes objects as long as its last readable state does', async () => {
    await admin.must('POST', namespaces, named('veiled'));
    await write('/registry/namespaces/veiled', '?');
    await write('/registry/namespaces/never-known', '?');
    const get = () => admin.request('GET', `${namespaces}/never-known`);
    await waitFor('it is unreadable', async () => (await get()).code === 500);
    const kept = await admin.request('POST', configMaps('veiled'), { body: named('a') });
    assert.equal(kept.code, 201, kept.text);
    const unknown = await admin.request('POST', configMaps('never-known'), { body: named('a') });
    assert.equal(unknown.code, 500, unknown.text);
    assert.match(unknown.text, /never-known.* cannot be read/);
    assert.equal((await admin.must('GET', `${configMaps('veiled')}/a`)).metadata.name, 'a');
  });
});
