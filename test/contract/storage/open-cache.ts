import type { CachedStore, CacheOptions, Store } from '../../../src/apiserver/storage/index.ts';

/** How a suite gets a cache; `before` prepares the store in front of which it is put. */
export type OpenCache = (
  options?: CacheOptions,
  before?: (store: Store) => Promise<unknown>,
) => Promise<AsyncDisposable & { readonly cache: CachedStore }>;
