import '../../../support/bounded-file.ts';
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { ApiObject, Kind, ListMeta } from '../../../../src/api/index.ts';
import { namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import type { ApiRequest } from '../../../../src/apiserver/handlers/index.ts';
import { continueTokens, get, list } from '../../../../src/apiserver/handlers/index.ts';
import type { Registry, Resource } from '../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { CachedStore, Store } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { systemClock } from '../../../../src/base/index.ts';

/** What a list answered. */
export interface Listed {
  names: string[];
  objects: ApiObject[];
  /** The list's resourceVersion. */
  revision: number;
  metadata: ListMeta;
}

export interface Asked {
  namespace?: string;
  query?: Record<string, string>;
  signal?: AbortSignal;
}

/** The handlers of reads over a store, without HTTP. */
export interface ListWorld extends AsyncDisposable {
  storage: CachedStore;
  registry: Registry;
  list(kind: Kind, asked?: Asked): Promise<Listed>;
  /** The resourceVersion of the object that a get answers. */
  get(kind: Kind, name: string, asked?: Asked): Promise<number>;
  create(kind: Kind, namespace: string, object: ApiObject): Promise<number>;
  remove(kind: Kind, namespace: string, name: string): Promise<void>;
  /** A request as it comes to a handler. */
  request(resource: Resource, asked: Asked & { name?: string }): ApiRequest;
}

export interface WorldOptions {
  /** Closed with the world; in memory unless given. */
  store?: Store;
  clock?: Clock;
  tokenKey?: Uint8Array;
}

const context = { user: controlPlaneUser, dryRun: false };

/** With the namespaces `default` and `other`. */
export async function listWorld(options: WorldOptions = {}): Promise<ListWorld> {
  const { clock = systemClock, tokenKey = new Uint8Array(32) } = options;
  await using opening = new AsyncDisposableStack();
  const store = opening.use(options.store ?? (await openStore({ kind: 'memory', clock })));
  const storage = opening.use(await createCache(store, { clock }));
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const tokens = continueTokens(tokenKey, clock);
  const request: ListWorld['request'] = (resource, { namespace = '', name = '', query = {}, signal }) => ({
    verb: 'list',
    registry,
    resource,
    namespace,
    name,
    subresource: '',
    query: new URLSearchParams(query),
    body: undefined,
    user: controlPlaneUser,
    continueTokens: tokens,
    clock,
    authorize: () => Promise.resolve(),
    signal: () => signal ?? new AbortController().signal,
  });
  const world: ListWorld = {
    storage,
    registry,
    request,
    async list(kind, asked = {}) {
      const resource = registry.of(kind);
      const answer = await list(request(resource, asked));
      assert.equal(answer.form, 'list');
      const objects = answer.items.map((item) => resource.encoding.parse(resource.encoding.show(item)));
      const { metadata } = answer;
      const names = objects.map((object) => object.metadata?.name ?? '');
      return { names, objects, revision: Number(metadata.resourceVersion), metadata };
    },
    async get(kind, name, asked = {}) {
      const resource = registry.of(kind);
      const answer = await get(request(resource, { ...asked, name }));
      assert.equal(answer.form, 'object');
      return Number(resource.encoding.parse(answer.json).metadata?.resourceVersion);
    },
    create: async (kind, namespace, object) =>
      (await registry.of(kind).create(namespace, object, context)).revision,
    async remove(kind, namespace, name) {
      await registry.of(kind).delete(namespace, name, {}, context);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
  for (const name of ['default', 'other']) {
    if (storage.get(`/registry/namespaces/${name}`)) continue;
    await world.create(namespaceKind, '', { metadata: { name } });
  }
  const opened = opening.move();
  return world;
}

/** Whether a promise is settled once everything that needs no time is done. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  return settled;
}

/** A store whose changes can be held back, so that the cache in front of it lags behind. */
export class LaggingStore implements Store {
  readonly #store: Store;
  #gate = Promise.withResolvers<void>();
  /** How many objects were read page by page. */
  read = 0;
  /** Called before each page is read. */
  onPage: () => void = () => undefined;

  constructor(store: Store) {
    this.#store = store;
    this.#gate.resolve();
  }

  hold(): void {
    this.#gate = Promise.withResolvers<void>();
  }

  release(): void {
    this.#gate.resolve();
  }

  get failed(): AbortSignal {
    return this.#store.failed;
  }

  commit: Store['commit'] = (write) => this.#store.commit(write);

  revision: Store['revision'] = () => this.#store.revision();

  foreignKeys: Store['foreignKeys'] = (...of) => this.#store.foreignKeys(...of);

  compact: Store['compact'] = (upTo) => this.#store.compact(upTo);

  listAt: Store['listAt'] = async (...place) => {
    this.onPage();
    const page = await this.#store.listAt(...place);
    if (typeof page !== 'string') this.read += page.items.length;
    return page;
  };

  async *changes(...from: Parameters<Store['changes']>): ReturnType<Store['changes']> & AsyncGenerator {
    for await (const batch of this.#store.changes(...from)) {
      await this.#gate.promise;
      yield batch;
    }
  }

  close(): Promise<void> {
    this.release();
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
