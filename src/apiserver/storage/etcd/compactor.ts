import type { Clock, Logger } from '../../../base/index.ts';
import type { Revision } from '../types.ts';
import type { TxnResponse } from './gen/rpc_pb.js';
import { Compare_CompareResult, Compare_CompareTarget, KV } from './gen/rpc_pb.js';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';

/** The reference's key, so that only one of its servers and ours together compacts. */
const sharedKey = Buffer.from('compact_rev_key');

export interface CompactorOptions {
  readonly client: EtcdClient;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** The revision of the last change that is known. */
  readonly lastChange: () => Revision;
  /** Called when this server has forgotten history up to a revision. */
  readonly forgotten: (upTo: Revision) => void;
}

/** Forgets history up to a revision. Rejects with an EtcdError, but not when it is forgotten already. */
export async function compactEtcd(client: EtcdClient, upTo: Revision): Promise<void> {
  try {
    await client.call(KV.method.compact, { revision: BigInt(upTo) }, { repeatable: true });
  } catch (error) {
    if (!(error instanceof EtcdError) || error.reason !== 'compacted') throw error;
  }
}

/**
 * In each interval one of all servers on a cluster forgets history: the one that first changes the shared key, whose
 * version counts the intervals. It forgets everything before the change that was the last one when the interval before
 * ended, so in a cluster without changes the newest state stays readable at its revision.
 */
export class Compactor implements AsyncDisposable {
  readonly #options: CompactorOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** The last known version of the key: how often it has been changed. */
  #version = 0n;
  /** The last known compaction, by any server. */
  #compacted: Revision = 0;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { intervalMs, lastChange, clock, log } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      const target = lastChange();
      await clock.sleep(intervalMs, signal);
      if (signal.aborted) return;
      try {
        if (target > this.#compacted) await this.#tryCompact(target);
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: error }, 'the history in etcd was not compacted; it is tried again');
      }
    }
  }

  async #tryCompact(target: Revision): Promise<void> {
    const { client, forgotten } = this.#options;
    const equal = { result: Compare_CompareResult.EQUAL, target: Compare_CompareTarget.VERSION };
    const value = Buffer.from(String(target));
    const response = await client.call(
      KV.method.txn,
      {
        compare: [{ ...equal, key: sharedKey, targetUnion: { case: 'version', value: this.#version } }],
        success: [{ request: { case: 'requestPut', value: { key: sharedKey, value } } }],
        failure: [{ request: { case: 'requestRange', value: { key: sharedKey } } }],
      },
      { repeatable: true, cancel: this.#stop.signal },
    );
    if (!response.succeeded) {
      this.#learn(response);
      return;
    }
    this.#version += 1n;
    await compactEtcd(client, target);
    this.#compacted = target;
    forgotten(target);
  }

  /** Another server was first. */
  #learn({ responses }: TxnResponse): void {
    const read = responses[0]?.response;
    const found = read?.case === 'responseRange' ? read.value.kvs[0] : undefined;
    this.#version = found?.version ?? 0n;
    const compacted = Number(Buffer.from(found?.value ?? []).toString());
    if (Number.isSafeInteger(compacted)) this.#compacted = Math.max(this.#compacted, compacted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
