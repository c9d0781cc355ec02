import type { CachedStore, Stored } from '../storage/index.ts';

/**
 * Called for the objects of a kind: once for each change, in order, in the step in which it is applied and before its
 * writer is answered, with the states before and after it. None of these may throw when they are called for a change.
 */
export interface Follower {
  /** For each object that exists at the start; without it the follower is called for changes only. */
  present?(stored: Stored): void;
  added?(next: Stored): void;
  changed?(next: Stored, previous: Stored): void;
  gone?(previous: Stored): void;
}

/** Calls a follower for the keys that start with `prefix`, until the result is disposed of. */
export function followKeys(storage: CachedStore, prefix: string, follower: Follower): Disposable {
  using starting = new DisposableStack();
  starting.use(
    storage.follow(prefix, ({ previous, next }) => {
      if (previous === null) {
        if (next !== null) follower.added?.(next);
      } else if (next === null) follower.gone?.(previous);
      else follower.changed?.(next, previous);
    }),
  );
  if (follower.present !== undefined) {
    for (const stored of storage.list(prefix, '', 0).items) follower.present(stored);
  }
  return starting.move();
}

/** A follower that calls `onWritten` with the key of each object that exists at the start, is new or has changed. */
export function followWritten(onWritten: (key: string) => void): Required<Omit<Follower, 'gone'>> {
  const call = ({ key }: Stored) => onWritten(key);
  return { present: call, added: call, changed: call };
}
