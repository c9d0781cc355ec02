import assert from 'node:assert/strict';
import type { ChangeBatch, Revision, Store } from '../../../src/apiserver/storage/index.ts';
import { StorageError } from '../../../src/apiserver/storage/index.ts';
import type { ChangingStore } from './changing-store.ts';
import { pick } from './random-changes.ts';
import { eventually, shown } from './scenario.ts';

/** Follows the changes of a prefix, at its own pace; leaves off and goes on from anything it has read. */
export class ChangeReader {
  readonly #world: ChangingStore<Store>;
  readonly #prefix: string;
  /** After this revision everything was seen, up to `#at`. */
  #from: Revision;
  #seen: { readonly revision: Revision; readonly line: string | undefined }[] = [];
  /** Set while it takes no more. */
  #gate: PromiseWithResolvers<void> | undefined;
  #stop = new AbortController();
  #failure: unknown;
  /** How often history no longer reached back. */
  compacted = 0;

  constructor(world: ChangingStore<Store>, prefix: string, from: Revision) {
    this.#world = world;
    this.#prefix = prefix;
    this.#from = from;
    this.follow();
  }

  get #at(): Revision {
    return this.#seen.at(-1)?.revision ?? this.#from;
  }

  /** Takes no more until `resume`. */
  pause(): void {
    this.#gate ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Forgets the latest of what it has read and goes on behind the rest. */
  leaveOff(index: number): void {
    const kept = index % (this.#seen.length + 1);
    this.#seen.length = kept;
    this.follow();
  }

  /** Goes on where it is, now. */
  follow(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#follow(this.#stop.signal).catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  /** When nothing is written any more: has come to the end, and seen what was written. */
  async finish(): Promise<void> {
    this.resume();
    const end = this.#world.revisions.at(-1) ?? 0;
    await eventually('the reader is at the end', () => this.#failure !== undefined || this.#at >= end);
    this.#stop.abort();
    if (this.#failure !== undefined) throw this.#failure;
    const lines = this.#seen.flatMap(({ line }) => line ?? []);
    assert.deepEqual(lines, this.#world.changesAfter(this.#from, this.#prefix));
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const [after, forgotten] = [this.#at, this.#world.forgotten];
    let isFirst = true;
    for await (const batch of this.#world.store.changes(this.#prefix, after, signal)) {
      if (signal.aborted) return;
      if (isFirst && after < forgotten) assert.equal(batch, 'compacted', `${after} is forgotten`);
      isFirst = false;
      if (batch === 'compacted') {
        assert.ok(this.#at < this.#world.compacted, `${this.#at} is not forgotten`);
        await this.#beginAnew(signal);
        return;
      }
      this.#take(batch);
      await this.#gate?.promise;
    }
  }

  #take(batch: ChangeBatch): void {
    const told = 'progress' in batch ? [{ revision: batch.progress, line: undefined }] : batch.map(lineOf);
    for (const each of told) {
      assert.ok(each.revision > this.#at, `${each.revision} comes after ${this.#at}`);
      this.#seen.push(each);
    }
  }

  async #beginAnew(signal: AbortSignal): Promise<void> {
    this.compacted++;
    const revision = await newestOf(this.#world.store);
    if (revision === undefined || signal.aborted) return;
    this.#from = revision;
    this.#seen = [];
    this.follow();
  }
}

/** Undefined when the store is closed: whoever opens it again lets its readers follow anew. */
async function newestOf(store: Store): Promise<Revision | undefined> {
  try {
    return await store.revision();
  } catch (error) {
    if (error instanceof StorageError && error.code === 'closed') return undefined;
    throw error;
  }
}

function lineOf(change: Parameters<typeof shown>[0]) {
  return { revision: change.revision, line: shown(change) };
}

/** Where a reader begins: behind any write, or ahead of all. */
export function startOf(world: ChangingStore<Store>, index: number, ahead: number): Revision {
  return ahead === 0 ? pick(world.revisions, index) : (world.revisions.at(-1) ?? 0) + ahead;
}
