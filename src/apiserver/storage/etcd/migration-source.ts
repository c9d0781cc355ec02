import { Mutex } from '../../../base/index.ts';
import type { MigrationSource, Reading, SourceHold } from '../migration/index.ts';
import type { ReadValue, Stored } from '../types.ts';
import { StorageError } from '../types.ts';
import { Compare_CompareResult, Compare_CompareTarget, KV, Lease } from './gen/rpc_pb.js';
import type { MigrationEtcd } from './migration-access.ts';
import { MigrationAccess, toStoreRevision, withStorageErrors } from './migration-access.ts';
import type { StoreRecord, WritersMark } from './store-record.ts';
import { encodeRecord, parseMark } from './store-record.ts';
import { revisionOf } from './values.ts';

/** Writers continue after this time when the process that holds them off has died. */
const holdSeconds = 30;

/** A store in etcd whose objects are moved elsewhere, while servers work on it. */
export class EtcdSource implements MigrationSource {
  readonly name: string;
  readonly groupSuffix: string;
  readonly #access: MigrationAccess;
  readonly #record: StoreRecord;
  readonly #readValue: ReadValue;

  private constructor(access: MigrationAccess, record: StoreRecord, readValue: ReadValue) {
    this.name = access.name;
    this.groupSuffix = record.groupSuffix;
    this.#access = access;
    this.#record = record;
    this.#readValue = readValue;
  }

  /** `readerFor`: how the values of a store with this group suffix are read. */
  static async open(etcd: MigrationEtcd, readerFor: (groupSuffix: string) => ReadValue): Promise<EtcdSource> {
    using opening = new DisposableStack();
    const access = opening.use(new MigrationAccess(etcd));
    const found = await access.record();
    if (found === undefined) throw new StorageError('unusable', `there is no store in ${access.name}`);
    if (found.record.incomplete !== undefined) {
      const { from } = found.record.incomplete;
      throw new StorageError(
        'moved',
        `the store in ${access.name} is not complete: its migration from ${from} has not ended`,
      );
    }
    const source = new EtcdSource(access, found.record, readerFor(found.record.groupSuffix));
    opening.move();
    return source;
  }

  async read(): Promise<Reading> {
    const revision = await this.#access.revision();
    const { revisions } = this.#record;
    return { revision: toStoreRevision(revision, revisions), objects: this.#objects(revision) };
  }

  async hold(to: string): Promise<SourceHold> {
    const hold = new WritersHold(this.#access, to);
    const revision = await hold.take();
    return {
      revision: toStoreRevision(revision, this.#record.revisions),
      seal: () => hold.seal(),
      [Symbol.asyncDispose]: () => hold.release(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#access[Symbol.dispose]();
  }

  async *#objects(revision: number): AsyncGenerator<Stored, void> {
    const { revisions } = this.#record;
    for await (const { key, value, ...at } of this.#access.objects(revision, this.#readValue)) {
      const createRevision = toStoreRevision(at.createRevision, revisions);
      yield { key, value, revision: toStoreRevision(at.revision, revisions), createRevision };
    }
  }
}

/**
 * The key that must be absent in the transactions of every server. It expires with a lease, so writers continue when this
 * process dies; it is written again, with a new lease, long before.
 */
class WritersHold {
  readonly #access: MigrationAccess;
  readonly #to: string;
  #at = 0n;
  #sealed = false;
  #ending = false;
  #timer: NodeJS.Timeout | undefined;
  /** Serializes the renewals and the end. */
  readonly #mutex = new Mutex();

  constructor(access: MigrationAccess, to: string) {
    this.#access = access;
    this.#to = to;
  }

  /** Returns the revision after which no server writes, as etcd counts. */
  async take(): Promise<number> {
    const before = await this.#access.found(this.#access.keys.readOnlyKey);
    if (before !== undefined) {
      this.#refuseOther(parseMark(before.value));
      this.#sealed = true;
      return await this.#access.revision();
    }
    const revision = await this.#put(await this.#lease());
    if (revision === undefined) throw busy(this.#access.name);
    this.#schedule();
    return revision;
  }

  async seal(): Promise<void> {
    if (this.#sealed) return;
    await this.#end(async () => {
      if ((await this.#put(0n)) === undefined) throw this.#lost();
      this.#sealed = true;
    });
  }

  /** Writers continue, unless the hold was sealed. */
  async release(): Promise<void> {
    if (this.#sealed || this.#ending) return;
    await this.#end(async () => {
      const { client, keys } = this.#access;
      const key = keys.readOnlyKey;
      const success = [{ request: { case: 'requestDeleteRange', value: { key } } } as const];
      // when this fails they continue a little later
      await client
        .call(KV.method.txn, { compare: [this.#mine()], success }, { repeatable: true })
        .catch(() => undefined);
    });
  }

  #end(work: () => Promise<void>): Promise<void> {
    this.#ending = true;
    clearTimeout(this.#timer);
    return this.#mutex.run(work);
  }

  #schedule(): void {
    if (this.#ending) return;
    this.#timer = setTimeout(() => void this.#mutex.run(() => this.#renew()), (holdSeconds * 1000) / 3);
  }

  /** A failure is noticed when the hold is sealed. */
  async #renew(): Promise<void> {
    try {
      await this.#put(await this.#lease());
    } catch {
      // tried again; meanwhile the previous lease lasts
    }
    this.#schedule();
  }

  async #lease(): Promise<bigint> {
    const request = { TTL: BigInt(holdSeconds), ID: 0n };
    const { ID } = await withStorageErrors(
      this.#access.client.call(Lease.method.leaseGrant, request, { repeatable: true }),
    );
    return ID;
  }

  /** Undefined: the key is not ours any more. `lease` 0: it never expires. */
  async #put(lease: bigint): Promise<number | undefined> {
    const { client, keys } = this.#access;
    const mark: WritersMark = { to: this.#to, at: new Date().toISOString(), moved: lease === 0n };
    const put = { key: keys.readOnlyKey, value: encodeRecord(mark), lease };
    const request = {
      compare: [this.#mine()],
      success: [{ request: { case: 'requestPut', value: put } } as const],
    };
    const { succeeded, header } = await withStorageErrors(
      client.call(KV.method.txn, request, { repeatable: false }),
    );
    if (!succeeded) return undefined;
    this.#at = header?.revision ?? 0n;
    return revisionOf(this.#at);
  }

  /** The key is absent at first, and afterwards unchanged since our last write. */
  #mine() {
    return {
      result: Compare_CompareResult.EQUAL,
      target: Compare_CompareTarget.MOD,
      key: this.#access.keys.readOnlyKey,
      targetUnion: { case: 'modRevision', value: this.#at },
    } as const;
  }

  #refuseOther({ moved, to, at }: WritersMark): void {
    if (moved && to === this.#to) return;
    if (!moved) throw busy(this.#access.name);
    const key = Buffer.from(this.#access.keys.readOnlyKey).toString();
    throw new StorageError(
      'moved',
      `the objects in ${this.#access.name} were moved to ${to} at ${at}; to move what is here nevertheless, delete the key ${key}`,
    );
  }

  #lost(): StorageError {
    return new StorageError(
      'unavailable',
      `servers on ${this.#access.name} may have written meanwhile, as they could not be kept off in time; migrate again`,
    );
  }
}

function busy(name: string): StorageError {
  return new StorageError(
    'locked',
    `another migration keeps writers off ${name}; when it has died, that ends within ${holdSeconds} seconds: try again then`,
  );
}
