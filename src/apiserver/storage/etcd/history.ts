import type { Clock } from '../../../base/index.ts';
import { sizeOfChange } from '../change-size.ts';
import type { Replay } from '../feed.ts';
import type { Revision, StoreChange } from '../types.ts';
import type { KeyMap } from './key-map.ts';
import type { Reads } from './reads.ts';
import type { Values } from './values.ts';
import { EtcdWatch } from './watch.ts';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdTimes } from './wire/options.ts';

/** Read of the past at a time: etcd starts a watch of the past only once in 100 ms. */
const piece = { changes: 4_096, bytes: 8 * 1024 * 1024 };

/** How often a read that fails is tried. */
const tries = 3;

export interface HistoryOptions {
  readonly client: EtcdClient;
  readonly reads: Reads;
  readonly keys: KeyMap;
  readonly values: Values;
  readonly clock: Clock;
  readonly times: EtcdTimes;
}

/** Reads changes from etcd's own history, for readers that are behind what memory keeps. */
export class EtcdHistory {
  readonly #options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** A piece of what came after `after`, at most up to `upTo`. Rejects with an EtcdError. */
  async read(prefix: string, after: Revision, upTo: Revision, signal: AbortSignal): Promise<Replay> {
    for (let attempt = 1; ; attempt++) {
      try {
        const found = await this.#read(prefix, after, upTo, signal);
        // previous states or deletions may have been forgotten while this was read: then some changes are missing
        return (await this.#options.reads.reaches(after)) ? found : 'compacted';
      } catch (error) {
        const passes = error instanceof EtcdError && (error.reason === 'away' || error.reason === 'unknown');
        if (!passes || attempt === tries || signal.aborted) throw error;
      }
    }
  }

  async #read(prefix: string, after: Revision, upTo: Revision, signal: AbortSignal): Promise<Replay> {
    const { client, keys, clock, times } = this.#options;
    const connection = await client.connected(times.connectMs);
    const enough = new AbortController();
    const { silenceMs } = times;
    const [only, ...others] = keys.ranges(prefix, '');
    const range = only !== undefined && others.length === 0 ? only : keys.root;
    const watch = new EtcdWatch({
      ...{ connection, range, after, clock, silenceMs },
      signal: AbortSignal.any([signal, enough.signal]),
    });
    const changes: StoreChange[] = [];
    let through = after;
    let bytes = 0;
    watch.want(upTo);
    try {
      for await (const batch of watch.batches()) {
        if (batch === 'compacted') return batch;
        for (const event of batch.events) {
          const decoded = this.#options.values.decode(event);
          if (decoded.revision > upTo) break;
          if ('lost' in decoded) return 'compacted';
          if (!('change' in decoded)) continue;
          bytes += sizeOfChange(decoded.change);
          if (decoded.change.key.startsWith(prefix)) changes.push(decoded.change);
        }
        through = Math.min(batch.through, upTo);
        if (through >= upTo || changes.length >= piece.changes || bytes >= piece.bytes) {
          return { changes, through };
        }
      }
    } finally {
      enough.abort();
    }
    throw new EtcdError('away', `etcd at ${connection.endpoint.url} ended a watch of the past`);
  }
}
