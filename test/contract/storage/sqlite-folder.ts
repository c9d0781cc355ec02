import '../../support/bounded-file.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MaintainedStore, Store, StoreOptions } from '../../../src/apiserver/storage/index.ts';
import { openSqlite } from '../../../src/apiserver/storage/index.ts';

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

  async open(options: Partial<SqliteOptions> = {}): Promise<MaintainedStore> {
    const store = await openSqlite({
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
