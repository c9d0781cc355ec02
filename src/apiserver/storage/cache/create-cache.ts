import type { Clock, Logger } from '../../../base/index.ts';
import { silentLogger, systemClock } from '../../../base/index.ts';
import type { Store } from '../types.ts';
import { MemoryCache } from './cached-store.ts';
import type { PastBounds } from './past-lists.ts';
import type { CachedStore } from './types.ts';

export interface CacheOptions {
  readonly clock?: Clock;
  readonly log?: Logger;
  /** A watcher whose sink takes nothing for this time is ended; default 30 s. */
  readonly stallMs?: number;
  /**
   * Bounds of the events in memory: their number and bytes for each kind, and the bytes of all kinds together. Default:
   * 4,096, 4 MiB and 16 MiB.
   */
  readonly recent?: { readonly count: number; readonly bytes: number; readonly totalBytes?: number };
  /** Bounds of the past states from which lists in chunks continue: their number and bytes. Default: 16 and 16 MiB. */
  readonly past?: PastBounds;
}

const recentBounds = { count: 4_096, bytes: 4 * 1024 * 1024, totalBytes: 16 * 1024 * 1024 };
const pastBounds = { count: 16, bytes: 16 * 1024 * 1024 };

/**
 * Puts a cache in front of a store: reads everything, then follows its changes. From then on the cache owns the store and
 * closes it; write only through the cache. Rejects with a StorageError when the store cannot be read, and then leaves it
 * open.
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
