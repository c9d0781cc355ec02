import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import type {
  ChangeBatch,
  Outcome,
  Page,
  Revision,
  Store,
  Write,
} from '../../../../src/apiserver/storage/index.ts';
import { StorageError } from '../../../../src/apiserver/storage/index.ts';
import { configMaps, named, objectIn, startServer } from '../support/index.ts';

/** A store that others write to as well, whose changes are told when somebody asks how far it is, or writes. */
class SharedStore implements Store {
  readonly shared = true;
  readonly store: Store;
  isAway = false;
  #held: PromiseWithResolvers<void> | undefined;

  constructor(store: Store) {
    this.store = store;
  }

  get failed(): AbortSignal {
    return this.store.failed;
  }

  /** From now on what is written is not told before the next question. */
  holdBack(): void {
    this.#held ??= Promise.withResolvers();
  }

  async commit(write: Write): Promise<Outcome> {
    const outcome = await this.store.commit(write);
    this.#goOn();
    return outcome;
  }

  async revision(): Promise<Revision> {
    if (this.isAway) throw new StorageError('unavailable', 'the store of the test is away');
    const revision = await this.store.revision();
    this.#goOn();
    return revision;
  }

  listAt(prefix: string, revision: Revision, behind: string, limit: number): Promise<Page> {
    return this.store.listAt(prefix, revision, behind, limit);
  }

  async *changes(
    prefix: string,
    behind: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted', void> {
    for await (const batch of this.store.changes(prefix, behind, signal)) {
      await this.#held?.promise;
      yield batch;
    }
  }

  foreignKeys(namespace: string, own: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.store.foreignKeys(namespace, own);
  }

  compact(upTo: Revision): Promise<void> {
    return this.store.compact(upTo);
  }

  close(): Promise<void> {
    this.#goOn();
    return this.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #goOn(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }
}

const opened: { store?: SharedStore } = {};
const server = await startServer({
  wrapStore(store) {
    opened.store = new SharedStore(store);
    return opened.store;
  },
});
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const store = opened.store;
assert.ok(store);
const maps = configMaps('default');
const keyOf = (name: string) => `/registry/configmaps/default/${name}`;

/** What another server writes to the same store, and this one has not heard of. */
async function elsewhere(name: string, data: object | null): Promise<void> {
  assert.ok(store);
  const page = await store.store.listAt(keyOf(name), await store.store.revision(), '', 1);
  const expect = typeof page === 'string' ? 0 : (page.items[0]?.revision ?? 0);
  const metadata = { name, namespace: 'default', uid: `uid-of-${name}` };
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data };
  store.holdBack();
  const value = data === null ? null : Buffer.from(JSON.stringify(object));
  const outcome = await store.store.commit({ key: keyOf(name), expect, value });
  assert.ok(outcome.ok, JSON.stringify(outcome));
}

beforeEach(() => {
  store.isAway = false;
});

describe('what another server has just written', () => {
  test('is changed, not missed', async () => {
    await elsewhere('to-change', { of: 'another' });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const reply = await admin.request('PATCH', `${maps}/to-change`, {
      body: { data: { and: 'mine' } },
      headers,
    });
    assert.equal(reply.code, 200, reply.text);
    assert.deepEqual(Reflect.get(objectIn(reply), 'data'), { of: 'another', and: 'mine' });
  });

  test('is deleted, not missed', async () => {
    await elsewhere('to-delete', {});
    await admin.must('DELETE', `${maps}/to-delete`);
  });

  test('is replaced by who knows its version', async () => {
    await admin.must('POST', maps, { ...named('to-replace'), data: { at: 'first' } });
    await elsewhere('to-replace', { at: 'second' });
    const resourceVersion = String(await store.store.revision());
    const object = { metadata: { name: 'to-replace', resourceVersion }, data: { at: 'third' } };
    await admin.must('PUT', `${maps}/to-replace`, object);
  });

  test('is not called the same as what it was before', async () => {
    const made = await admin.must('POST', maps, { ...named('to-keep'), data: { at: 'first' } });
    await elsewhere('to-keep', { at: 'second' });
    const same = { metadata: { name: 'to-keep' }, data: { at: 'first' } };
    const put = await admin.must('PUT', `${maps}/to-keep`, same);
    assert.notEqual(put.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.deepEqual(Reflect.get(await admin.must('GET', `${maps}/to-keep`), 'data'), { at: 'first' });
  });

  test('is a conflict for who knows the version before', async () => {
    const made = await admin.must('POST', maps, { ...named('to-lose'), data: { at: 'first' } });
    await elsewhere('to-lose', { at: 'second' });
    const { resourceVersion = '' } = made.metadata;
    const same = { metadata: { name: 'to-lose', resourceVersion }, data: { at: 'first' } };
    await admin.refused('Conflict', 'PUT', `${maps}/to-lose`, { body: same });
  });

  test('is gone for who would delete it', async () => {
    await admin.must('POST', maps, named('to-miss'));
    await elsewhere('to-miss', null);
    await admin.refused('NotFound', 'DELETE', `${maps}/to-miss`);
  });
});

describe('while the store is away', () => {
  test('nothing is refused on what memory alone says', async () => {
    store.isAway = true;
    const status = await admin.refused('ServiceUnavailable', 'DELETE', `${maps}/never-there`);
    assert.equal(status.reply.headers['retry-after'], '1');
  });

  test('the server lives, and is not ready', async () => {
    store.isAway = true;
    assert.equal((await admin.request('GET', '/livez')).code, 200);
    assert.equal((await admin.request('GET', '/readyz')).code, 500);
  });
});

test('a watch from a version that the store has not come to is told to list again', async () => {
  const version = (await store.store.revision()) + 1_000;
  await admin.refused('Expired', 'GET', `${maps}?watch=1&resourceVersion=${version}`);
});
