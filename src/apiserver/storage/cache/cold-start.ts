import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Revision, Store, Stored } from '../types.ts';
import { ReadableChanges } from './readable-changes.ts';
import type { WatchStart } from './types.ts';
import type { Watcher } from './watcher.ts';

/** How many of the initial objects one push holds; between two pushes the event loop continues. */
const chunk = { objects: 100, bytes: 512 * 1024 };

/** What the start of a watch needs of the cache. */
export interface StartSource {
  readonly store: Store;
  readonly applied: () => Revision;
  readonly list: (prefix: string) => readonly Stored[];
  readonly waitFor: (revision: Revision, signal: AbortSignal) => Promise<'ready' | 'timeout'>;
}

/**
 * Brings a watch to the revision from which the events in memory can feed it. After each wait it continues only if the
 * watch has not ended. Rejects when the store fails.
 */
export async function coldStart(
  watcher: Watcher,
  prefix: string,
  start: WatchStart,
  source: StartSource,
): Promise<void> {
  if (watcher.ended) return;
  if (start.at === 'exact') {
    if (start.revision <= (source.store.doubtful ?? 0)) {
      watcher.end('expired');
      return;
    }
    watcher.position = start.revision;
    if (watcher.inReach) watcher.start();
    await replay(watcher, prefix, source, watcher.inReach);
    return;
  }
  if ((await source.waitFor(start.minRevision, watcher.signal)) === 'timeout') return;
  watcher.position = source.applied();
  const objects = source.list(prefix);
  watcher.start();
  await pushObjects(watcher, objects);
  if (start.bookmark) watcher.offerBookmark(watcher.position, true);
  await watcher.room();
  await replay(watcher, prefix, source, true);
}

async function pushObjects(watcher: Watcher, objects: readonly Stored[]): Promise<void> {
  let part: Stored[] = [];
  let bytes = 0;
  for (const object of objects) {
    part.push(object);
    bytes += object.value.byteLength;
    if (part.length < chunk.objects && bytes < chunk.bytes) continue;
    watcher.offerObjects(part);
    part = [];
    bytes = 0;
    await yieldToEventLoop();
    await watcher.room();
    if (watcher.ended) return;
  }
  watcher.offerObjects(part);
  await watcher.room();
}

/** Reads from history what memory no longer holds. `started`: the sink's `start` was called. */
async function replay(
  watcher: Watcher,
  prefix: string,
  { store }: StartSource,
  started: boolean,
): Promise<void> {
  if (watcher.inReach) {
    watcher.goLive();
    return;
  }
  let first = !started;
  const readable = new ReadableChanges();
  for await (const batch of store.changes(prefix, watcher.position, watcher.signal)) {
    if (batch === 'compacted') {
      watcher.end('expired');
      return;
    }
    if (first) watcher.start();
    first = false;
    if ('progress' in batch) watcher.position = batch.progress;
    else {
      const changes = readable.take(batch);
      if (changes === 'unknown') {
        watcher.end('expired');
        return;
      }
      watcher.offerChanges(changes);
      watcher.position = batch.at(-1)?.revision ?? watcher.position;
    }
    await watcher.room();
    if (watcher.ended) return;
    if (watcher.inReach) {
      watcher.goLive();
      return;
    }
  }
}
