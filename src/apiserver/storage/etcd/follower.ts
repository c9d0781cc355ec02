import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff } from '../../../base/index.ts';
import type { Revision, StoreChange } from '../types.ts';
import { StorageError } from '../types.ts';
import type { Folders } from './folders.ts';
import type { KeyMap } from './key-map.ts';
import type { Head, Reads } from './reads.ts';
import type { Values } from './values.ts';
import type { EventBatch } from './watch.ts';
import { EtcdWatch } from './watch.ts';
import type { EtcdClient } from './wire/client.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdTimes } from './wire/options.ts';

/** Receives changes in order, and none twice. */
export interface ChangeReceiver {
  /** How far it is. */
  readonly revision: Revision;
  append(changes: readonly StoreChange[], through: Revision): void;
  /** The changes up to `through` are not available here: they are in history, or forgotten. */
  jumpTo(through: Revision): void;
  /** The store is another one than before, or was put back to an earlier state: everything starts again from `head`. */
  replaced(head: Head, why: string): void;
}

export interface FollowerOptions {
  readonly client: EtcdClient;
  readonly reads: Reads;
  readonly keys: KeyMap;
  readonly values: Values;
  readonly folders: Folders;
  readonly receiver: ChangeReceiver;
  readonly head: Head;
  /** Called when the store does not exist any more; following ends then. */
  readonly lost: () => StorageError;
  readonly clock: Clock;
  readonly times: EtcdTimes;
  readonly log: Logger;
}

/**
 * Follows everything below the prefix, with one watch after the other: when connections or members fail, it continues
 * where it was.
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

  /** Makes sure that this revision is reached, once etcd has reached it. */
  want(revision: Revision): void {
    this.#wanted = Math.max(this.#wanted, revision);
    if (this.#watch !== undefined) this.#watch.want(revision);
    else this.#retry.abort(); // a caller waits for it
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const backoff = createBackoff({ initialMs: 20, maxMs: 1_000, jitter: 0.5 });
    let isLogged = false;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#follow(() => {
          if (isLogged) log.info('etcd is followed again');
          isLogged = false;
          backoff.reset();
        });
      } catch (error) {
        if (this.#stop.signal.aborted || error instanceof StorageError) return;
        if (!isLogged) log.warn({ err: error }, 'etcd cannot be followed; it is tried again');
        isLogged = true;
      }
      this.#retry = new AbortController();
      const signal = AbortSignal.any([this.#retry.signal, this.#stop.signal]);
      await clock.sleep(Math.min(20, backoff.next()), this.#stop.signal);
      await clock.sleep(backoff.next(), signal);
    }
  }

  async #follow(succeeded: () => void): Promise<void> {
    const { client, clock, times, keys, receiver } = this.#options;
    await this.#checkHead();
    const connection = await client.connected(times.connectMs);
    const after = receiver.revision;
    const { signal } = this.#stop;
    const { silenceMs } = times;
    const watch = new EtcdWatch({ connection, range: keys.root, after, clock, silenceMs, signal });
    this.#watch = watch;
    try {
      if (this.#wanted > after) watch.want(this.#wanted);
      for await (const batch of watch.batches()) {
        if (batch === 'compacted') await this.#skip();
        else this.#passOn(batch);
        succeeded();
      }
    } catch (error) {
      if (error instanceof EtcdError && error.reason === 'unknown') client.leave(connection);
      throw error;
    } finally {
      this.#watch = undefined;
    }
  }

  /** A member that is behind may be watched; a cluster that is behind was put back to an earlier state. */
  async #checkHead(): Promise<void> {
    const { reads, receiver, lost, folders } = this.#options;
    const head = await reads.head();
    if (!head.isRecorded) throw lost();
    const isOther = head.clusterId !== this.#clusterId;
    if (!isOther && head.revision >= receiver.revision) return;
    this.#clusterId = head.clusterId;
    this.#wanted = 0;
    folders.reset();
    const why = isOther ? 'it is another cluster' : `it was put back from revision ${receiver.revision}`;
    receiver.replaced(head, `${why}, and is at ${head.revision} now`);
  }

  async #skip(): Promise<void> {
    const { reads, receiver, folders } = this.#options;
    folders.reset();
    receiver.jumpTo((await reads.head()).revision);
  }

  /** Our writes have one object per revision; when another program wrote several in one revision, they stay together. */
  #passOn({ events, through }: EventBatch): void {
    const { receiver, values, folders } = this.#options;
    let changes: StoreChange[] = [];
    for (const event of events) {
      if (event.kv !== undefined) folders.observe(event.kv.key);
      const decoded = values.decode(event);
      if ('lost' in decoded) {
        receiver.append(changes, Math.max(receiver.revision, decoded.revision - 1));
        receiver.jumpTo(decoded.revision);
        changes = [];
      } else if ('change' in decoded) changes.push(decoded.change);
    }
    receiver.append(changes, through);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
