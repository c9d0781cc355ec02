import type { Clock, Logger } from '../../../../base/index.ts';
import type { StoreIdentity } from '../../types.ts';

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** Holds the database; made with mode 0700 where it is missing. */
  readonly folder: string;
  /** Undefined: the store must be there, and may be of any. */
  readonly identity: StoreIdentity | undefined;
  /** Whether there should be one: what has to be made then is recorded as made for a `missing` one. Default false. */
  readonly isExpected?: boolean;
  /** How long history is kept; default 5 minutes. */
  readonly historyMs?: number;
  /** What history may take on disk beside the objects; beyond it the oldest goes earlier. Default 256 MiB. */
  readonly historyBytes?: number;
  /** What is kept free beside the database, so that a full disk does no harm; default 16 MiB, 0: nothing. */
  readonly reserveBytes?: number;
  /** The largest size of the database file; beyond it writes are `full`. Default: what the disk holds. */
  readonly limitBytes?: number;
  /** How long close() waits for what was accepted; default 10 s. What is left then is `unknown`. */
  readonly closeTimeoutMs?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Of what is not said. */
export const defaults = { historyBytes: 256 * 1024 * 1024, reserveBytes: 16 * 1024 * 1024 };
