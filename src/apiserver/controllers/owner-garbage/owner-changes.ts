import type { Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Follower } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { Dependents } from './dependents.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';
import { hasSameOwners, seemsDeleted } from './stored-text.ts';

/** Keeps the dependents to what is stored, and asks for the objects to be looked at that a change concerns. */
export class OwnerChanges {
  readonly #objects: Objects;
  readonly #dependents: Dependents;
  readonly #ask: (key: string) => void;
  readonly #log: Logger;
  /** To be called for the objects of all kinds. */
  readonly follower: Follower = {
    present: (stored) => this.#written(stored, null),
    added: (next) => this.#written(next, null),
    changed: (next, previous) => this.#written(next, previous),
    gone: (previous) => this.#gone(previous),
  };

  constructor(objects: Objects, dependents: Dependents, ask: (key: string) => void, log: Logger) {
    this.#objects = objects;
    this.#dependents = dependents;
    this.#ask = ask;
    this.#log = log;
  }

  /**
   * `previous` is null for an object that is new, or was there at the start. What is as it was costs a comparison of bytes:
   * a heartbeat must not be parsed.
   */
  #written(next: Stored, previous: Stored | null): void {
    const areSame = hasSameOwners(previous, next);
    if (!areSame || seemsDeleted(next)) this.#guard(next.key, () => this.#look(next, previous, areSame));
  }

  #gone(previous: Stored): void {
    this.#guard(previous.key, () => {
      const item = this.#objects.read(previous);
      this.#dependents.set(previous.key, []);
      if (item === undefined) return;
      for (const key of this.#dependents.of(item.uid)) this.#ask(key);
      this.#lookAtOwners(item);
    });
  }

  #look(next: Stored, previous: Stored | null, areSame: boolean): void {
    const item = this.#objects.read(next);
    if (item === undefined) return;
    if (!areSame) {
      const uids = (item.metadata.ownerReferences ?? []).map(({ uid }) => uid);
      this.#dependents.set(next.key, uids);
      this.#lookAtOwners(previous === null ? undefined : this.#objects.read(previous)); // one may have waited for it
    }
    const waiting = waitsFor(item);
    if (!areSame || waiting !== undefined) this.#ask(next.key);
    if (waiting === 'dependents') for (const key of this.#dependents.of(item.uid)) this.#ask(key);
  }

  #lookAtOwners(item: Item | undefined): void {
    for (const reference of item?.metadata.ownerReferences ?? []) {
      const key = item && this.#objects.ownerKey(item, reference);
      if (key !== undefined && key !== 'unknown' && key !== 'misplaced') this.#ask(key);
    }
  }

  #guard(key: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.error({ key, err: error }, `a change cannot be read: ${describeError(error)}`);
    }
  }
}
