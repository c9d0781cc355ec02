import '../../support/bounded-file.ts';
import { test } from 'node:test';
import type { Store } from '../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../src/apiserver/storage/index.ts';
import { EtcdPlace, etcdLack, sharedEtcd } from './etcd-place.ts';
import type { OpenCache } from './open-cache.ts';
import type { OpenStore } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

/** Where a store is kept. Disposal closes what is open and removes all. */
export interface StorePlace extends AsyncDisposable {
  /** The store of this place, empty at first. One is open at a time. `historyMs`: its window, by default its own. */
  open(options?: { readonly historyMs?: number }): Promise<Store>;
}

/** What a backend brings to join every suite: add it to `backends`. */
export interface Backend {
  readonly name: string;
  /** Whether a place that is opened again has what was written before. */
  readonly isDurable: boolean;
  makePlace(): Promise<StorePlace>;
}

const memory: Backend = {
  name: 'memory',
  isDurable: false,
  async makePlace() {
    const opened: Store[] = [];
    return {
      async open(options = {}) {
        const store = await openStore({ kind: 'memory', ...options });
        opened.push(store);
        return store;
      },
      async [Symbol.asyncDispose]() {
        for (const store of opened) await store.close();
      },
    };
  },
};

const sqlite: Backend = { name: 'sqlite', isDurable: true, makePlace: () => SqliteFolder.make() };

/** One member or three; a file of tests has each of them once, and a prefix for each place. */
function etcd(members: 1 | 3): Backend {
  const shared = sharedEtcd({ members });
  return {
    name: `etcd of ${members}`,
    isDurable: true,
    makePlace: async () => new EtcdPlace(await shared()),
  };
}

const lack = etcdLack();
if (lack !== undefined) test('etcd', { skip: lack });

export const backends: readonly Backend[] = [
  memory,
  sqlite,
  ...(lack === undefined ? [etcd(1), etcd(3)] : []),
];

/** A new store by itself. */
export function bare({ makePlace }: Backend): OpenStore {
  return async () => {
    await using opening = new AsyncDisposableStack();
    const place = opening.use(await makePlace());
    const store = await place.open();
    const opened = opening.move();
    return { store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  };
}

/** A new store with the cache in front. */
export function cached({ makePlace }: Backend): OpenCache {
  return async (options, before) => {
    await using opening = new AsyncDisposableStack();
    const place = opening.use(await makePlace());
    const store = await place.open();
    await before?.(store);
    const cache = opening.use(await createCache(store, options));
    const opened = opening.move();
    return { cache, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  };
}
