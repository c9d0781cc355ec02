import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Page, Revision, State } from '../types.ts';
import { isReadable } from '../types.ts';
import type { RangeRequestSchema, RangeResponse } from './gen/rpc_pb.js';
import { KV } from './gen/rpc_pb.js';
import type { KeyMap } from './key-map.ts';
import type { Values } from './values.ts';
import { revisionOf, toListing } from './values.ts';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';
import type { KeyRange } from './wire/watch-call.ts';

/** The wanted size of one page: bytes, and the number of objects at first and at most. */
const pageSize = { bytes: 4 * 1024 * 1024, first: 500, max: 10_000 };

/** The present revision of etcd, and which store is there. */
export interface Head {
  readonly revision: Revision;
  readonly clusterId: bigint;
  /** Whether the store's record is there; if not, it is not a store of ours any more. */
  readonly isRecorded: boolean;
}

/** Linearizable reads of etcd: each sees everything that was written before it. */
export class Reads {
  readonly #client: EtcdClient;
  readonly #keys: KeyMap;
  readonly #values: Values;
  /** How many objects the next page is to hold. */
  #size = pageSize.first;

  constructor(client: EtcdClient, keys: KeyMap, values: Values) {
    this.#client = client;
    this.#keys = keys;
    this.#values = values;
  }

  async head(): Promise<Head> {
    const { header, count } = await this.#range({ key: this.#keys.identityKey, countOnly: true });
    const clusterId = header?.clusterId ?? 0n;
    return { revision: revisionOf(header?.revision), clusterId, isRecorded: count > 0n };
  }

  /** The revision of the last write of a key; 0: it is absent. */
  async revisionOfKey(key: string): Promise<Revision> {
    const { kvs } = await this.#range({ key: this.#keys.toEtcd(key), keysOnly: true });
    return revisionOf(kvs[0]?.modRevision);
  }

  /** Whether the state at a revision can still be read, and with it every change after it. */
  async reaches(revision: Revision): Promise<boolean> {
    const key = this.#keys.identityKey;
    try {
      await this.#range({ key, countOnly: true, revision: BigInt(Math.max(1, revision)) });
      return true;
    } catch (error) {
      if (error instanceof EtcdError && error.reason === 'compacted') return false;
      if (error instanceof EtcdError && error.reason === 'future') return true;
      throw error;
    }
  }

  /** As Store.listAt; rejects with an EtcdError. */
  async list(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    if (revision < 1) return 'compacted'; // for etcd that is the newest
    try {
      return await this.#list(prefix, revision, after, limit);
    } catch (error) {
      if (error instanceof EtcdError && (error.reason === 'compacted' || error.reason === 'future')) {
        return error.reason;
      }
      throw error;
    }
  }

  /** All objects at a revision, in order, page by page. Rejects with an EtcdError. */
  async *pages(revision: Revision): AsyncGenerator<readonly State[], void> {
    for (const { from, end } of this.#keys.ranges('', '')) {
      let key = from;
      for (let left = 1; left > 0; ) {
        const page = await this.#page(key, end, revision, this.#size);
        yield page.kvs.map((found) => this.#values.state(found)).filter((state) => state !== undefined);
        const last = page.kvs.at(-1);
        left = last === undefined ? 0 : Number(page.count) - page.kvs.length;
        if (last !== undefined) key = Buffer.concat([last.key, Uint8Array.of(0)]);
      }
    }
  }

  async #list(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    const states: State[] = [];
    let remaining = 0;
    let isChecked = false;
    for (const range of this.#keys.ranges(prefix, after)) {
      remaining += await this.#take(range, revision, limit, states);
      isChecked = true;
    }
    if (!isChecked && !(await this.reaches(revision))) return 'compacted';
    return { revision, ...toListing(states), remaining };
  }

  /** Adds the states of a range until `limit` (0: all) can be read. Returns how many are left out. */
  async #take({ from, end }: KeyRange, revision: Revision, limit: number, states: State[]): Promise<number> {
    let key = from;
    let readable = states.filter(isReadable).length;
    for (;;) {
      const wanted = limit === 0 ? this.#size : Math.min(this.#size, limit - readable);
      const page = await this.#page(key, end, revision, wanted);
      for (const found of page.kvs) {
        const state = this.#values.state(found);
        if (state === undefined) continue;
        states.push(state);
        if (isReadable(state)) readable++;
      }
      const last = page.kvs.at(-1);
      const left = Number(page.count) - page.kvs.length;
      if (left === 0 || (limit !== 0 && readable >= limit) || (wanted > 0 && last === undefined)) return left;
      if (last !== undefined) key = Buffer.concat([last.key, Uint8Array.of(0)]);
    }
  }

  /** `wanted` 0: only the count. */
  async #page(
    key: Uint8Array,
    rangeEnd: Uint8Array,
    revision: Revision,
    wanted: number,
  ): Promise<RangeResponse> {
    const at = { key, rangeEnd, revision: BigInt(revision) };
    if (wanted === 0) return await this.#range({ ...at, countOnly: true });
    for (let limit = wanted; ; limit = Math.ceil(limit / 8)) {
      try {
        const page = await this.#range({ ...at, limit: BigInt(limit) });
        this.#learn(page);
        return page;
      } catch (error) {
        if (!(error instanceof EtcdError) || error.reason !== 'tooLong' || limit === 1) throw error;
      }
    }
  }

  #learn({ kvs }: RangeResponse): void {
    if (kvs.length < 10) return;
    const bytes = kvs.reduce((sum, { value }) => sum + value.length + 200, 0);
    const fitting = Math.floor((pageSize.bytes / bytes) * kvs.length);
    this.#size = Math.max(10, Math.min(pageSize.max, fitting));
  }

  async #range(request: MessageInitShape<typeof RangeRequestSchema>): Promise<RangeResponse> {
    return await this.#client.call(KV.method.range, request, { repeatable: true });
  }
}
