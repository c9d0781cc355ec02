import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store, StoreOptions } from '../../../src/apiserver/storage/index.ts';
import { openStore } from '../../../src/apiserver/storage/index.ts';

export type SqliteOptions = Extract<StoreOptions, { kind: 'sqlite' }>;

/** A folder of its own that goes with all stores that were opened in it. */
export class SqliteFolder implements AsyncDisposable {
  readonly path: string;
  readonly #stores: Store[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<SqliteFolder> {
    return new SqliteFolder(await mkdtemp(join(tmpdir(), 'nodeward-store-')));
  }

  async open(options: Partial<SqliteOptions> = {}): Promise<Store> {
    const store = await openStore({
      kind: 'sqlite',
      folder: this.path,
      identity: { groupSuffix: 'k8s.io' },
      ...options,
    });
    this.#stores.push(store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) await store.close();
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A new store in a folder of its own. */
export async function openInNewFolder(): Promise<AsyncDisposable & { readonly store: Store }> {
  const folder = await SqliteFolder.make();
  const store = await folder.open();
  return { store, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}
