import { confirm } from '../registry/index.ts';
import type { CachedStore, Stored } from '../storage/index.ts';
import { isReadable } from '../storage/index.ts';

/*
 * Whatever deletes something because something else is absent must be sure of the absence: an object that is there and
 * cannot be read is no absence, and neither is one that memory does not show yet.
 */

/**
 * Whether there is nothing under a key in the newest state, which is asked for where other servers write to the same store.
 * Rejects when that cannot be found out.
 */
export async function isProvenAbsent(storage: CachedStore, key: string): Promise<boolean> {
  if (storage.lookup(key) !== undefined) return false;
  await confirm(storage, storage.applied);
  return storage.lookup(key) === undefined;
}

/** The object, if it can be read now: an older state is nothing to act on. */
export function findReadable(storage: CachedStore, key: string): Stored | undefined {
  const state = storage.lookup(key);
  return state !== undefined && isReadable(state) ? state : undefined;
}

/** Whether there is an object that cannot be read now. */
export function isUnreadable(storage: CachedStore, key: string): boolean {
  const state = storage.lookup(key);
  return state !== undefined && !isReadable(state);
}
