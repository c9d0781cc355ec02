import { silentLogger, systemClock } from '../../../base/index.ts';
import type { Numbering } from '../renumbered-store.ts';
import type { ReadValue, Revision, State, Stored } from '../types.ts';
import { isReadable, StorageError } from '../types.ts';
import type { KeyValue } from './gen/kv_pb.js';
import { KV } from './gen/rpc_pb.js';
import { KeyMap } from './key-map.ts';
import { toStorageError } from './outcomes.ts';
import { Reads } from './reads.ts';
import type { StoreRecord } from './store-record.ts';
import { parseRecord } from './store-record.ts';
import { Values } from './values.ts';
import { EtcdClient } from './wire/client.ts';
import { parseEndpoints } from './wire/endpoints.ts';
import { EtcdError } from './wire/errors.ts';
import type { EtcdStoreOptions } from './wire/options.ts';
import { defaultEtcdPrefix, defaultTimes } from './wire/options.ts';

/** Which etcd. */
export type MigrationEtcd = Pick<EtcdStoreOptions, 'servers' | 'prefix' | 'tls'>;

/** The value of a key in etcd, with the revision of its last write. */
export interface Found {
  readonly value: Uint8Array;
  readonly modRevision: bigint;
}

/** A migration's access to a store in etcd: without following changes, and without leaving out any object. */
export class MigrationAccess implements Disposable {
  readonly name: string;
  readonly client: EtcdClient;
  readonly keys: KeyMap;
  readonly #reads: Reads;

  constructor({ servers, prefix = defaultEtcdPrefix, tls = {} }: MigrationEtcd) {
    const endpoints = parseEndpoints(servers);
    this.name = `etcd:${endpoints.map(({ url }) => url).join(',')} (${prefix})`;
    this.client = new EtcdClient({
      ...{ endpoints, tls, times: defaultTimes, clock: systemClock, log: silentLogger() },
    });
    this.keys = new KeyMap(prefix);
    this.#reads = new Reads(this.client, this.keys, new Values(this.keys));
  }

  /** The newest revision, as etcd counts. */
  async revision(): Promise<Revision> {
    return (await withStorageErrors(this.#reads.head())).revision;
  }

  /** In the order of keys, with revisions as etcd counts them. Throws a StorageError for one that cannot be read. */
  async *objects(revision: Revision, readValue?: ReadValue): AsyncGenerator<Stored, void> {
    const values = new Values(this.keys, readValue && refuseOthers(readValue));
    const pages = new Reads(this.client, this.keys, values).pages(revision);
    try {
      for await (const page of pages) yield* page.map(mustBeReadable);
    } catch (error) {
      throw error instanceof EtcdError ? readError(error) : error;
    }
  }

  async found(key: Uint8Array): Promise<Found | undefined> {
    const { kvs } = await withStorageErrors(this.client.call(KV.method.range, { key }, { repeatable: true }));
    return foundIn(kvs[0]);
  }

  /** Undefined: there never was a store. */
  async record(): Promise<{ readonly record: StoreRecord; readonly found: Found } | undefined> {
    const found = await this.found(this.keys.identityKey);
    if (found === undefined) return undefined;
    const record = parseRecord(found.value);
    if (record !== undefined) return { record, found };
    throw new StorageError('corrupt', `${this.name} does not tell what its store is for`);
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
  }
}

export function foundIn(keyValue: KeyValue | undefined): Found | undefined {
  return keyValue && { value: keyValue.value, modRevision: keyValue.modRevision };
}

/** Converts a revision from etcd's counting to the store's. */
export function toStoreRevision(revision: Revision, numbering: Numbering | undefined): Revision {
  return revision + (numbering?.offset ?? 0);
}

/** Converts the EtcdError of a call into a StorageError that says what to do. */
export async function withStorageErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof EtcdError ? readError(error) : toStorageError(error);
  }
}

function readError(error: EtcdError): StorageError {
  const advice: Partial<Record<EtcdError['reason'], string>> = {
    full: '; make room in etcd (compact, defragment, disarm the alarm) and migrate again',
    tooLarge: '; start etcd with --max-request-bytes 2097152 and migrate again',
    compacted: '; reading it took too long: migrate again',
  };
  const code = error.reason === 'full' || error.reason === 'tooLarge' ? 'unusable' : 'unavailable';
  return new StorageError(code, `${error.message}${advice[error.reason] ?? ''}`, { cause: error });
}

/** Nothing may be left out, neither what is of kinds that are not served. */
function refuseOthers(read: ReadValue): ReadValue {
  return (key, value) =>
    read(key, value) ?? { why: 'it is not in JSON, and of a kind that is not served here' };
}

function mustBeReadable(state: State): Stored {
  if (isReadable(state)) return state;
  throw new StorageError(
    'unusable',
    `${state.key} in etcd cannot be moved: ${state.why}; have the program that wrote it store it again, unencrypted and with --storage-media-type=application/json, or delete it`,
  );
}
