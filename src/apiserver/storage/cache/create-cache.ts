import type { Clock, Logger } from '../../../base/index.ts';
import { silentLogger, systemClock } from '../../../base/index.ts';
import type { Store } from '../types.ts';
import { MemoryCache } from './cached-store.ts';
import type { PastBounds } from './past-lists.ts';
import type { CachedStore } from './types.ts';

export interface CacheOptions {
  readonly clock?: Clock;
  readonly log?: Logger;
  /** A watcher whose sink takes nothing for so long is cut off; default 30 s. */
  readonly stallMs?: number;
  /**
   * How many events of each kind are kept in memory, of what size together, and of what size all kinds together; by
   * default 4,096, 4 MiB and 16 MiB.
   */
  readonly recent?: { readonly count: number; readonly bytes: number; readonly totalBytes?: number };
  /** How many states lists in chunks can go on from in memory, and what is held for them; by default 16, and 16 MiB. */
  readonly past?: PastBounds;
}

const recentBounds = { count: 4_096, bytes: 4 * 1024 * 1024, totalBytes: 16 * 1024 * 1024 };
const pastBounds = { count: 16, bytes: 16 * 1024 * 1024 };

/**
 * Puts a cache in front of a store: reads everything, then follows it. From then on the cache owns the store
 * and closes it; write only through the cache. Rejects with a StorageError when the store cannot be read, and
 * leaves it open then.
 */
export async function createCache(store: Store, options: CacheOptions = {}): Promise<CachedStore> {
  const { totalBytes = recentBounds.totalBytes, ...each } = options.recent ?? recentBounds;
  return await MemoryCache.load(store, {
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLogger(),
    stallMs: options.stallMs ?? 30_000,
    recent: { each, totalBytes },
    past: options.past ?? pastBounds,
  });
}
