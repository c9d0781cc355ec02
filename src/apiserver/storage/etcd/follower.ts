import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff } from '../../../base/index.ts';
import type { Change, Revision } from '../types.ts';
import { StorageError } from '../types.ts';
import type { KeyMap } from './key-map.ts';
import type { Head, Reads } from './reads.ts';
import type { Values } from './values.ts';
import type { Heard } from './watch.ts';
import { EtcdWatch } from './watch.ts';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdTimes } from './wire/options.ts';

/** Told in order, and never of what it was told already. */
export interface Follows {
  /** Where it is. */
  readonly revision: Revision;
  append(changes: readonly Change[], through: Revision): void;
  /** What came up to `through` cannot be told from here: it is in history, or forgotten. */
  jumpTo(through: Revision): void;
  /** The store is another one than it was, or was put back to an earlier state: all begins anew from there. */
  replaced(head: Head, why: string): void;
}

export interface FollowerOptions {
  readonly client: EtcdClient;
  readonly reads: Reads;
  readonly keys: KeyMap;
  readonly values: Values;
  readonly follows: Follows;
  readonly head: Head;
  /** Told when the store is there no more; nothing is followed from then on. */
  readonly lost: () => StorageError;
  readonly clock: Clock;
  readonly times: EtcdTimes;
  readonly log: Logger;
}

/**
 * Follows everything below the prefix, over one watch after the other: whatever happens to connections and members, it
 * goes on where it was.
 */
export class Follower implements AsyncDisposable {
  readonly #options: FollowerOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #clusterId: bigint;
  #watch: EtcdWatch | undefined;
  #wanted = 0;
  #retry = new AbortController();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#clusterId = options.head.clusterId;
    this.#running = this.#run();
  }

  /** Sees to it that it comes to this revision, once etcd has. */
  want(revision: Revision): void {
    this.#wanted = Math.max(this.#wanted, revision);
    if (this.#watch !== undefined) this.#watch.want(revision);
    else this.#retry.abort(); // somebody waits
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const backoff = createBackoff({ initialMs: 20, maxMs: 1_000, jitter: 0.5 });
    let isTold = false;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#follow(() => {
          if (isTold) log.info('etcd is followed again');
          isTold = false;
          backoff.reset();
        });
      } catch (error) {
        if (this.#stop.signal.aborted || error instanceof StorageError) return;
        if (!isTold) log.warn({ err: error }, 'etcd cannot be followed; it is tried again');
        isTold = true;
      }
      this.#retry = new AbortController();
      const signal = AbortSignal.any([this.#retry.signal, this.#stop.signal]);
      await clock.sleep(Math.min(20, backoff.next()), this.#stop.signal);
      await clock.sleep(backoff.next(), signal);
    }
  }

  async #follow(succeeded: () => void): Promise<void> {
    const { client, clock, times, keys, follows } = this.#options;
    await this.#compare();
    const connection = await client.connected(times.connectMs);
    const after = follows.revision;
    const { signal } = this.#stop;
    const { silenceMs } = times;
    const watch = new EtcdWatch({ connection, range: keys.root, after, clock, silenceMs, signal });
    this.#watch = watch;
    try {
      if (this.#wanted > after) watch.want(this.#wanted);
      for await (const heard of watch.heard()) {
        if (heard === 'compacted') await this.#skip();
        else this.#tell(heard);
        succeeded();
      }
    } catch (error) {
      if (error instanceof EtcdError && error.reason === 'unknown') client.leave(connection);
      throw error;
    } finally {
      this.#watch = undefined;
    }
  }

  /** A member that is behind may be watched; a cluster that is behind was put back. */
  async #compare(): Promise<void> {
    const { reads, follows, lost } = this.#options;
    const head = await reads.head();
    if (!head.isRecorded) throw lost();
    const isOther = head.clusterId !== this.#clusterId;
    if (!isOther && head.revision >= follows.revision) return;
    this.#clusterId = head.clusterId;
    this.#wanted = 0;
    const why = isOther ? 'it is another cluster' : `it was put back from revision ${follows.revision}`;
    follows.replaced(head, `${why}, and is at ${head.revision} now`);
  }

  async #skip(): Promise<void> {
    const { reads, follows } = this.#options;
    follows.jumpTo((await reads.head()).revision);
  }

  /** One object has a revision for itself, unless somebody else wrote several at once: those stay together. */
  #tell({ events, through }: Heard): void {
    const { follows, values } = this.#options;
    let changes: Change[] = [];
    for (const event of events) {
      const told = values.told(event);
      if ('lost' in told) {
        follows.append(changes, Math.max(follows.revision, told.revision - 1));
        follows.jumpTo(told.revision);
        changes = [];
      } else if ('change' in told) changes.push(told.change);
    }
    follows.append(changes, through);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
