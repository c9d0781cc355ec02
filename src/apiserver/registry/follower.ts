import type { CachedStore, Stored } from '../storage/index.ts';

/**
 * What is to be called for objects of a kind. Each change is told once, in order, in the step in which it is applied and
 * before its writer is answered, with the states that it lies between. None of these may throw when a change is told.
 */
export interface Follower {
  /** For each object that is there at the start; without it only changes are told. */
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

/** The follower of someone to whom only the key of an object matters that is there, is new or has changed. */
export function lookingAt(look: (key: string) => void): Required<Omit<Follower, 'gone'>> {
  const lookAt = ({ key }: Stored) => look(key);
  return { present: lookAt, added: lookAt, changed: lookAt };
}
