import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CachedStore, Outcome, Store } from '../../../src/apiserver/storage/index.ts';
import type {
  Answer,
  RegisterInput,
  RegisterOutput,
  Registers,
} from '../../support/linearizability/index.ts';
import {
  assertLinearizable,
  HistoryRecorder,
  RegisterClient,
  registerDeeds,
  registerModel,
  versionFault,
  versionTold,
} from '../../support/linearizability/index.ts';
import type { OpenCache } from './open-cache.ts';
import type { OpenStore } from './scenario.ts';
import { bytes, lease, textOf } from './scenario.ts';

const deed = fc.record({
  deed: fc.constantFrom(...registerDeeds, 'update' as const),
  key: fc.constantFrom('a', 'b', 'c').map(lease),
  /** Forgets all history first, which must not be noticed. */
  compacts: fc.nat(20).map((n) => n === 0),
});
const clients = fc.array(fc.array(deed, { minLength: 10, maxLength: 40 }), { minLength: 2, maxLength: 8 });

export type Deeds = typeof clients extends fc.Arbitrary<infer T> ? T : never;

/** A store, in the eyes of clients that use it at once, is one copy: reads at its newest revision. */
export function storeLinearizabilitySuite(open: OpenStore): void {
  describe('clients at once', () => {
    test('see one copy of each key, and versions that grow', { timeout: 120_000 }, () =>
      checked(async (plan) => {
        await using opened = await open();
        await useAtOnce(storeRegisters(opened.store), plan, () => forgetAll(opened.store));
      }),
    );
  });
}

/** So it is with the cache in front, which reads memory. */
export function cacheLinearizabilitySuite(open: OpenCache): void {
  describe('clients at once', () => {
    test('see one copy of each key in memory, and versions that grow', { timeout: 120_000 }, () =>
      checked(async (plan) => {
        await using opened = await open();
        await useAtOnce(cacheRegisters(opened.cache), plan, () => forgetAll(opened.cache));
      }),
    );
  });
}

async function checked(property: (plan: Deeds) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(clients, property), { numRuns: 15 });
}

/** Lets clients loose on registers, and rejects when they were not answered as by one copy. */
export async function useAtOnce(
  registers: Registers,
  plan: Deeds,
  forget?: () => Promise<void>,
): Promise<void> {
  const recorder = new HistoryRecorder<RegisterInput, RegisterOutput>();
  const run = async (deeds: Deeds[number], id: number) => {
    const client = new RegisterClient(id, registers, recorder);
    for (const { deed: what, key, compacts } of deeds) {
      if (compacts) await forget?.();
      await client.act(what, key);
    }
  };
  await Promise.all(plan.map(run));
  assertLinearizable(registerModel, recorder.operations);
  assert.equal(versionFault(recorder.operations, versionTold), undefined);
}

async function forgetAll(store: Store): Promise<void> {
  await store.compact(await store.revision());
}

/** The keys of a store as registers. */
export function storeRegisters(store: Store): Registers {
  return {
    write: (key, expect, value) => writeTo(store, key, expect, value),
    async read(key) {
      for (;;) {
        const page = await store.listAt(key, await store.revision(), '', 1);
        if (page === 'compacted') continue; // somebody forgot that revision between the two calls
        assert.ok(page !== 'future', 'the newest revision is no future one');
        return { output: { saw: seen(page.items[0]) } };
      }
    },
  };
}

function cacheRegisters(cache: CachedStore): Registers {
  return {
    write: (key, expect, value) => writeTo(cache, key, expect, value),
    read: async (key) => ({ output: { saw: seen(cache.get(key)) } }),
  };
}

async function writeTo(
  store: Store,
  key: string,
  expect: number | 'any',
  value: string | null,
): Promise<Answer<RegisterOutput>> {
  assert.ok(expect !== 'any', 'a store writes on condition only');
  const outcome = await store.commit({ key, expect, value: value === null ? null : bytes(value) });
  return answerOf(outcome);
}

function answerOf(outcome: Outcome): Answer<RegisterOutput> {
  if (outcome.ok) return { output: { version: outcome.revision } };
  if (outcome.code !== 'conflict') return outcome.code === 'unknown' ? 'unknown' : 'never';
  assert.ok(outcome.revision >= (outcome.now?.revision ?? 0));
  return { output: { refusedFor: seen(outcome.now) } };
}

function seen(stored: Parameters<typeof textOf>[0]) {
  return stored ? { value: textOf(stored) ?? '', version: stored.revision } : 'absent';
}
