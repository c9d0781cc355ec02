import type { Clock, Logger } from '../../../../base/index.ts';
import type { StoreIdentity } from '../../types.ts';

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** Holds the database; created with mode 0700 when it is missing. */
  readonly folder: string;
  /** Undefined: the store must exist, and may have any identity. */
  readonly identity: StoreIdentity | undefined;
  /** Whether the store should exist: one that must be created is then recorded as replacing a `missing` one. Default false. */
  readonly isExpected?: boolean;
  /** How long history is kept; default 5 minutes. */
  readonly historyMs?: number;
  /** The bound of history on disk, beside the objects; beyond it the oldest is forgotten earlier. Default 256 MiB. */
  readonly historyBytes?: number;
  /** Reserved beside the database, so that a full disk does no harm; default 16 MiB, 0: nothing. */
  readonly reserveBytes?: number;
  /** The largest size of the database file; beyond it writes are `full`. Default: what the disk holds. */
  readonly limitBytes?: number;
  /** How long close() waits for accepted writes; default 10 s. The outcome of those left then is `unknown`. */
  readonly closeTimeoutMs?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
}

/** Of options that are left out. */
export const defaults = { historyBytes: 256 * 1024 * 1024, reserveBytes: 16 * 1024 * 1024 };
