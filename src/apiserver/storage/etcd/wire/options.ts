import type { Clock, Logger } from '../../../../base/index.ts';
import type { ReadValue, StoreIdentity } from '../../types.ts';

/** How the connection is secured. The files are read again for every connection, so they may be renewed. */
export interface EtcdTls {
  /** PEM; default the system's authorities. */
  readonly caFile?: string | undefined;
  /** PEM, both or none: who this program is to etcd. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** How a store on etcd v3 (at least 3.4.25 or 3.5.8) is opened. */
export interface EtcdStoreOptions {
  /** `http://HOST:PORT` or `https://HOST:PORT`, one or more members of one cluster. */
  readonly servers: readonly string[];
  /** What all keys begin with; default `/registry`. */
  readonly prefix?: string | undefined;
  readonly tls?: EtcdTls | undefined;
  readonly identity: StoreIdentity;
  /** Default: everything is JSON that is not in the reference's protobuf or encryption. */
  readonly readValue?: ReadValue | undefined;
  /**
   * History is kept for at least this time and at most twice as long. One of all the servers on a cluster forgets it.
   * 0: none does. Default 5 minutes.
   */
  readonly compactionIntervalMs?: number | undefined;
  readonly times?: Partial<EtcdTimes> | undefined;
  readonly clock?: Clock | undefined;
  readonly log?: Logger | undefined;
}

/** Bounds in milliseconds. */
export interface EtcdTimes {
  /** A call is given up after this. */
  readonly callMs: number;
  /** How much of it is spent on waiting for a connection. */
  readonly connectMs: number;
  /** A watch that is silent for this time although progress was requested is started again. */
  readonly silenceMs: number;
  /** How long close() waits for accepted writes. */
  readonly closeMs: number;
}

export const defaultTimes: EtcdTimes = { callMs: 7_000, connectMs: 2_500, silenceMs: 4_000, closeMs: 10_000 };

export const defaultEtcdPrefix = '/registry';

/** 5 minutes, as the reference. */
export const defaultCompactionIntervalMs = 300_000;
