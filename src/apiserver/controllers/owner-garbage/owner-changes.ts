import type { Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Follower } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { Dependents } from './dependents.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';
import { hasSameOwners, seemsDeleted } from './stored-text.ts';

/** Keeps the dependents in step with the stored objects, and enqueues the objects that a change concerns. */
export class OwnerChanges {
  readonly #objects: Objects;
  readonly #dependents: Dependents;
  readonly #enqueue: (key: string) => void;
  readonly #log: Logger;
  /** To be called for the objects of all kinds. */
  readonly follower: Follower = {
    present: (stored) => this.#written(stored, null),
    added: (next) => this.#written(next, null),
    changed: (next, previous) => this.#written(next, previous),
    gone: (previous) => this.#gone(previous),
  };

  constructor(objects: Objects, dependents: Dependents, enqueue: (key: string) => void, log: Logger) {
    this.#objects = objects;
    this.#dependents = dependents;
    this.#enqueue = enqueue;
    this.#log = log;
  }

  /**
   * `previous` is null for an object that is new, or existed at the start. A write that changes no owners costs only a
   * comparison of bytes: a heartbeat must not be parsed.
   */
  #written(next: Stored, previous: Stored | null): void {
    this.#guard(next.key, () => {
      const areSame = hasSameOwners(previous, next);
      if (!areSame || seemsDeleted(next)) this.#handleWrite(next, previous, areSame);
    });
  }

  #gone(previous: Stored): void {
    this.#guard(previous.key, () => {
      const item = this.#objects.read(previous);
      this.#dependents.set(previous.key, []);
      if (item === undefined) return;
      for (const key of this.#dependents.of(item.uid)) this.#enqueue(key);
      this.#enqueueOwners(item);
    });
  }

  #handleWrite(next: Stored, previous: Stored | null, areSame: boolean): void {
    const item = this.#objects.read(next);
    if (item === undefined) return;
    if (!areSame) {
      const uids = (item.metadata.ownerReferences ?? []).map(({ uid }) => uid);
      this.#dependents.set(next.key, uids);
      this.#enqueueOwners(previous === null ? undefined : this.#objects.read(previous)); // one may have waited for it
    }
    const waiting = waitsFor(item);
    if (!areSame || waiting !== undefined) this.#enqueue(next.key);
    if (waiting === 'dependents') for (const key of this.#dependents.of(item.uid)) this.#enqueue(key);
  }

  #enqueueOwners(item: Item | undefined): void {
    for (const reference of item?.metadata.ownerReferences ?? []) {
      const key = item && this.#objects.ownerKey(item, reference);
      if (key !== undefined && key !== 'unknown' && key !== 'misplaced') this.#enqueue(key);
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
