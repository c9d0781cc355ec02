import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type {
  ChangeBatch,
  Listing,
  Page,
  Revision,
  State,
  Store,
  StoreChange,
} from '../../../src/apiserver/storage/index.ts';
import { isReadable } from '../../../src/apiserver/storage/index.ts';

/** How a suite gets a new, empty store; `dispose` of what it answers frees everything that belongs to it. */
export type OpenStore = () => Promise<AsyncDisposable & { readonly store: Store }>;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The value of a state as text; of one that cannot be read, that it cannot. */
export function textOf(state: State | null | undefined): string | undefined {
  if (!state) return undefined;
  return isReadable(state) ? decoder.decode(state.value) : 'unreadable';
}

export function lease(name: string): string {
  return `/registry/leases/kube-node-lease/${name}`;
}

/** Writes and expects success. */
export async function put(store: Store, key: string, text: string, expect: Revision = 0): Promise<Revision> {
  const outcome = await store.commit({ key, expect, value: bytes(text) });
  assert.ok(outcome.ok, `put ${key}: ${JSON.stringify(outcome)}`);
  return outcome.revision;
}

/** Deletes and expects success. */
export async function remove(store: Store, key: string, expect: Revision): Promise<Revision> {
  const outcome = await store.commit({ key, expect, value: null });
  assert.ok(outcome.ok, `delete ${key}: ${JSON.stringify(outcome)}`);
  return outcome.revision;
}

/** A list that must be there. */
export function listing(page: Page): Listing {
  assert.ok(typeof page !== 'string', `the list is ${String(page)}`);
  return page;
}

export async function allAt(store: Store, prefix: string, revision: Revision): Promise<string[]> {
  const { items } = listing(await store.listAt(prefix, revision, '', 0));
  return items.map((item) => `${item.key}=${textOf(item)}`);
}

/** A change as one line, to compare with. */
export function shown({ key, revision, previous, next }: StoreChange): string {
  const side = (state: State | null) =>
    state === null ? '-' : `${textOf(state)}@${state.revision}/${state.createRevision}`;
  return `${revision} ${key} ${side(previous)} > ${side(next)}`;
}

/** Reads changes until one has come to `until`. Answers what was seen and the revision reached. */
export async function readChanges(
  store: Store,
  prefix: string,
  after: Revision,
  until: Revision,
): Promise<{ seen: StoreChange[]; at: Revision; compacted: boolean }> {
  const seen: StoreChange[] = [];
  const stop = new AbortController();
  let at = after;
  try {
    for await (const batch of at >= until ? [] : store.changes(prefix, after, stop.signal)) {
      if (batch === 'compacted') return { seen, at, compacted: true };
      at = take(batch, seen, at);
      if (at >= until) break;
    }
  } finally {
    stop.abort();
  }
  return { seen, at, compacted: false };
}

function take(batch: ChangeBatch, seen: StoreChange[], at: Revision): Revision {
  if ('progress' in batch) return batch.progress;
  seen.push(...batch);
  return batch.at(-1)?.revision ?? at;
}

/** Waits for a condition, in turns of the event loop; fails after ten seconds. */
export async function eventually(what: string, holds: () => boolean): Promise<void> {
  const started = performance.now();
  while (!holds()) {
    assert.ok(performance.now() - started < 10_000, `waited in vain: ${what}`);
    await turn();
  }
}
