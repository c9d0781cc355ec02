import assert from 'node:assert/strict';
import type { Change, Revision, Store } from '../../../src/apiserver/storage/index.ts';
import type { StorePlace } from './backends.ts';
import { bytes, shown, textOf } from './scenario.ts';

/** What a watch selects. */
export type Match = (value: string | undefined) => boolean;

/** A store that is written to, compacted and opened again, with a log of its own of what must be seen. */
export class ChangingStore<S extends Store> {
  readonly #place: StorePlace;
  readonly #openStore: (place: StorePlace) => Promise<S>;
  readonly #written: { key: string; revision: Revision; value: string | null }[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #known = new Map<string, Revision>();
  store: S;
  /** History before it may be forgotten … */
  compacted: Revision = 0;
  /** … and before this it is. */
  forgotten: Revision = 0;
  /** Before the first write. */
  readonly start: Revision;

  private constructor(
    place: StorePlace,
    openStore: (place: StorePlace) => Promise<S>,
    store: S,
    start: Revision,
  ) {
    this.#place = place;
    this.#openStore = openStore;
    this.store = store;
    this.start = start;
  }

  static async open<S extends Store>(
    place: StorePlace,
    openStore: (place: StorePlace) => Promise<S>,
  ): Promise<ChangingStore<S>> {
    const store = await openStore(place);
    return new ChangingStore(place, openStore, store, await store.revision());
  }

  /** Begins a write of `key`, null: its deletion. Keys are written at once, one key's writes one after the other. */
  write(key: string, value: string | null): void {
    const before = this.#running.get(key);
    const write = async () => {
      await before;
      const expect = this.#known.get(key) ?? 0;
      if (value === null && expect === 0) return;
      const outcome = await this.store.commit({ key, expect, value: value === null ? null : bytes(value) });
      assert.ok(outcome.ok, JSON.stringify(outcome));
      this.#known.set(key, value === null ? 0 : outcome.revision);
      this.#written.push({ key, revision: outcome.revision, value });
    };
    this.#running.set(key, write());
  }

  /** Waits for every write. */
  async settle(): Promise<void> {
    await Promise.all(this.#running.values());
    this.#running.clear();
  }

  /** Forgets history up to the `back`-th last of the writes that were answered. */
  async compact(back: number): Promise<void> {
    const upTo = this.revisions.at(-1 - back) ?? 0;
    this.compacted = Math.max(this.compacted, upTo);
    await this.store.compact(upTo);
    this.forgotten = this.compacted;
  }

  async openAgain(): Promise<void> {
    await this.settle();
    await this.store.close();
    this.store = await this.#openStore(this.#place);
  }

  /** Of the writes that were answered, in order; first that from before all of them. */
  get revisions(): readonly Revision[] {
    return [this.start, ...this.#written.map(({ revision }) => revision).toSorted((a, b) => a - b)];
  }

  /** All that was written, as a store tells it. */
  get changes(): readonly Change[] {
    const states = new Map<string, NonNullable<Change['next']>>();
    return this.#written
      .toSorted((a, b) => a.revision - b.revision)
      .map(({ key, revision, value }): Change => {
        const previous = states.get(key) ?? null;
        states.delete(key);
        if (value === null) return { key, revision, previous, next: null };
        const createRevision = previous?.createRevision ?? revision;
        const next = { key, revision, createRevision, value: bytes(value) };
        states.set(key, next);
        return { key, revision, previous, next };
      });
  }

  changesAfter(revision: Revision, prefix: string): readonly string[] {
    return this.changes.filter((each) => each.revision > revision && each.key.startsWith(prefix)).map(shown);
  }

  /** What a watch from exactly `revision` must send. */
  eventsAfter(revision: Revision, prefix: string, match: Match): readonly string[] {
    return this.changes
      .filter((each) => each.revision > revision && each.key.startsWith(prefix))
      .flatMap((change) => {
        const was = change.previous !== null && match(textOf(change.previous));
        const is = change.next !== null && match(textOf(change.next));
        const line = (type: string, state: Change['next']) => [
          `${type} ${change.key} ${textOf(state)}@${change.revision}`,
        ];
        if (is) return line(was ? 'MODIFIED' : 'ADDED', change.next);
        return was ? line('DELETED', change.previous) : [];
      });
  }

  /** What a watch that begins with the state at `revision` must send first. */
  stateAt(revision: Revision, prefix: string, match: Match): readonly string[] {
    const states = new Map<string, Change['next']>();
    for (const change of this.changes) if (change.revision <= revision) states.set(change.key, change.next);
    return [...states.values()]
      .flatMap((state) => (state?.key.startsWith(prefix) && match(textOf(state)) ? [state] : []))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map((state) => `ADDED ${state.key} ${textOf(state)}@${state.revision}`);
  }
}
