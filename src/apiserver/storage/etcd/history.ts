import type { Clock } from '../../../base/index.ts';
import { sizeOfChange } from '../change-size.ts';
import type { Replay } from '../feed.ts';
import type { Change, Revision } from '../types.ts';
import type { KeyMap } from './key-map.ts';
import type { Reads } from './reads.ts';
import type { Values } from './values.ts';
import { EtcdWatch } from './watch.ts';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdTimes } from './wire/options.ts';

/** What is read of the past at a time: etcd begins a watch of the past once in 100 ms. */
const piece = { changes: 4_096, bytes: 8 * 1024 * 1024 };

/** How often a read that failed is begun anew. */
const tries = 3;

export interface HistoryOptions {
  readonly client: EtcdClient;
  readonly reads: Reads;
  readonly keys: KeyMap;
  readonly values: Values;
  readonly clock: Clock;
  readonly times: EtcdTimes;
}

/** Reads changes from etcd's own history, for those who are behind what memory keeps. */
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
        // a state before or a deletion may have been forgotten while it was read: then not all of it was told
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
    const changes: Change[] = [];
    let through = after;
    let bytes = 0;
    watch.want(upTo);
    try {
      for await (const heard of watch.heard()) {
        if (heard === 'compacted') return heard;
        for (const event of heard.events) {
          const told = this.#options.values.told(event);
          if (told.revision > upTo) break;
          if ('lost' in told) return 'compacted';
          if (!('change' in told)) continue;
          bytes += sizeOfChange(told.change);
          if (told.change.key.startsWith(prefix)) changes.push(told.change);
        }
        through = Math.min(heard.through, upTo);
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
