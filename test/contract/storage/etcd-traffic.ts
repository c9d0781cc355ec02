import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Store, StoreChange } from '../../../src/apiserver/storage/index.ts';
import { StorageError } from '../../../src/apiserver/storage/index.ts';
import { waitFor } from '../../support/index.ts';
import type { RegisterInput, RegisterOutput, Registers } from '../../support/linearizability/index.ts';
import {
  assertLinearizable,
  HistoryRecorder,
  RegisterClient,
  registerDeeds,
  registerModel,
  versionFault,
  versionTold,
} from '../../support/linearizability/index.ts';
import { pick } from './random-changes.ts';
import { lease, shown, textOf } from './scenario.ts';
import { storeRegisters } from './suite-linearizability.ts';

const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map(lease);
const deeds = [...registerDeeds, 'update', 'update'] as const;

/** Clients of several servers on one cluster, and for each server one who follows all changes there. */
export class EtcdTraffic {
  readonly #recorder = new HistoryRecorder<RegisterInput, RegisterOutput>();
  readonly #followers: Following[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  /** For each store, the requests that were answered as by a healthy one. */
  readonly #answered: number[];

  constructor(stores: readonly Store[], start: number, clientsOfEach: number) {
    this.#answered = stores.map(() => 0);
    for (const [index, store] of stores.entries()) {
      this.#followers.push(new Following(store, start));
      for (let n = 0; n < clientsOfEach; n++)
        this.#running.push(this.#act(store, index, index * clientsOfEach + n));
    }
  }

  /** Goes on until each server has answered so many more. */
  async more(count: number, what: string): Promise<void> {
    const wanted = this.#answered.map((answered) => answered + count);
    const isThere = () => this.#answered.every((answered, index) => answered >= (wanted[index] ?? 0));
    await waitFor(`${count} answers of each ${what}`, isThere, { timeoutMs: 60_000 });
  }

  /** Ends it, and rejects when somebody was told what is not so. */
  async check(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    const { operations } = this.#recorder;
    assertLinearizable(registerModel, operations);
    assert.equal(versionFault(operations, versionTold), undefined);
    const written = operations.flatMap(({ output }) =>
      output && 'version' in output ? (output.version ?? []) : [],
    );
    await Promise.all(this.#followers.map((each) => each.reach(Math.max(0, ...written))));
    const told = this.#followers.map((each) => each.end());
    for (const each of told) assertOnce(each, new Set(written));
    const [first = [], ...others] = told;
    const last = Math.min(...told.map((changes) => changes.at(-1)?.revision ?? 0));
    const upTo = (changes: readonly StoreChange[]) =>
      changes.filter(({ revision }) => revision <= last).map(shown);
    for (const other of others) assert.deepEqual(upTo(other), upTo(first), 'all are told the same');
  }

  async #act(store: Store, index: number, id: number): Promise<void> {
    const client = new RegisterClient(id, this.#registers(store, index), this.#recorder);
    while (!this.#stop.signal.aborted) {
      await client.act(
        pick(deeds, Math.floor(Math.random() * 100)),
        pick(keys, Math.floor(Math.random() * 100)),
      );
      await turn();
    }
  }

  #registers(store: Store, index: number): Registers {
    const registers = storeRegisters(store);
    const counted = <T>(answer: T): T => {
      if (answer !== 'unknown' && answer !== 'never') {
        this.#answered[index] = (this.#answered[index] ?? 0) + 1;
      }
      return answer;
    };
    return {
      write: async (...parts) => counted(await registers.write(...parts)),
      async read(key) {
        try {
          return counted(await registers.read(key));
        } catch (error) {
          if (error instanceof StorageError && error.code === 'unavailable') return 'never';
          throw error;
        }
      },
    };
  }
}

/** Every change once, each from the state that the one before left; and none that was answered is missing. */
function assertOnce(changes: readonly StoreChange[], written: ReadonlySet<number>): void {
  const revisions = changes.map(({ revision }) => revision);
  assert.deepEqual(
    revisions,
    revisions.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(revisions).size, revisions.length, 'none is told twice');
  const missing = [...written].filter((revision) => !revisions.includes(revision));
  assert.deepEqual(missing, [], 'what was answered is told');
  const values = changes.flatMap(({ next }) => textOf(next) ?? []);
  assert.equal(new Set(values).size, values.length, 'no write was done twice');
  const states = new Map<string, StoreChange['next']>();
  for (const { key, previous, next } of changes) {
    assert.deepEqual(previous, states.get(key) ?? null);
    states.set(key, next);
  }
}

class Following {
  readonly #changes: StoreChange[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #at: number;

  constructor(store: Store, start: number) {
    this.#at = start;
    this.#running = this.#follow(store, start);
  }

  async reach(revision: number): Promise<void> {
    await waitFor(`revision ${revision} to be told`, () => this.#at >= revision, { timeoutMs: 30_000 });
  }

  end(): readonly StoreChange[] {
    this.#stop.abort();
    void this.#running;
    return this.#changes;
  }

  async #follow(store: Store, start: number): Promise<void> {
    for await (const batch of store.changes('', start, this.#stop.signal)) {
      assert.notEqual(batch, 'compacted');
      if (typeof batch === 'string') return;
      if ('progress' in batch) this.#at = batch.progress;
      else this.#changes.push(...batch);
      this.#at = Math.max(this.#at, this.#changes.at(-1)?.revision ?? 0);
    }
  }
}
