import type {
  LastPart,
  Migrated,
  MigrationSource,
  MigrationTarget,
  Progress,
  Reading,
} from '../migration/index.ts';
import { leap, pairs, sameValue, verify } from '../migration/index.ts';
import type { Stored } from '../types.ts';
import { StorageError } from '../types.ts';
import { Compare_CompareResult, Compare_CompareTarget, KV } from './gen/rpc_pb.js';
import type { Found, MigrationEtcd } from './migration-access.ts';
import { MigrationAccess, withStorageErrors } from './migration-access.ts';
import type { StoreRecord } from './store-record.ts';
import { encodeRecord } from './store-record.ts';

/** Under way at once: transactions, and their bytes; the last one may exceed the bytes. */
const atOnce = { writes: 256, bytes: 32 * 1024 * 1024 };

/**
 * A store in etcd that is filled by a migration. Its record says `incomplete` until all is there, and every transaction
 * requires that record to be as this process has written it: of two migrations at once one fails.
 */
export class EtcdTarget implements MigrationTarget {
  readonly name: string;
  readonly #access: MigrationAccess;
  readonly #progress: Progress;
  #record: { record: StoreRecord; at: bigint } | undefined;

  constructor(etcd: MigrationEtcd, progress: Progress) {
    this.#access = new MigrationAccess(etcd);
    this.name = this.#access.name;
    this.#progress = progress;
  }

  async begin({ name, groupSuffix }: MigrationSource): Promise<void> {
    const before = await this.#access.record();
    if (before?.record.incomplete === undefined) {
      await this.#refuseOccupied();
    } else if (before.record.incomplete.from !== name) {
      throw new StorageError(
        'occupied',
        `${this.name} holds a part of ${before.record.incomplete.from}; go on from there, or choose another --etcd-prefix`,
      );
    }
    const { revisions } = before?.record ?? {}; // an earlier store here may have issued some
    const record = { groupSuffix, revisions, incomplete: { from: name, at: new Date().toISOString() } };
    await this.#save(record, before?.found);
  }

  async prepare(reading: Reading): Promise<void> {
    await this.#copy(reading);
  }

  async finish({ source, hold }: LastPart): Promise<Migrated> {
    this.#progress.step('copying the last changes');
    await this.#copy(await source.read());
    // a repeated write that is still under way must not take effect after the comparison
    await this.#fence();
    this.#progress.step('comparing');
    const revision = await this.#access.revision();
    const verified = await verify(await source.read(), this.#access.objects(revision), this.#progress);
    const before = this.#record?.record.revisions?.offset ?? 0;
    const offset = Math.max(before, hold.revision + leap - revision);
    if (!Number.isSafeInteger(revision + offset + leap)) {
      throw new StorageError('unusable', `the revisions of ${source.name} are too large to go on from`);
    }
    const revisions = { offset, floor: revision + offset };
    await this.#fence(); // fails when another process works on the store
    await hold.seal();
    await this.#save({ groupSuffix: source.groupSuffix, revisions });
    return { ...verified, revision: revisions.floor };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#access[Symbol.dispose]();
  }

  /** Makes the target equal to the reading, writing only the differences. */
  async #copy({ objects }: Reading): Promise<void> {
    const there = this.#access.objects(await this.#access.revision());
    const writes = new Writes((key, value) => this.#write(key, value));
    for await (const pair of pairs(objects, there)) {
      const { key, wanted } = pair;
      this.#progress.add(1);
      if (wanted === undefined) await writes.add(key, null);
      else if (!isThere(wanted, pair.there)) await writes.add(key, wanted.value);
    }
    await writes.done();
  }

  async #write(name: string, value: Uint8Array | null): Promise<void> {
    const key = this.#access.keys.toEtcd(name);
    if (value === null) await this.#transact({ request: { case: 'requestDeleteRange', value: { key } } });
    else await this.#transact({ request: { case: 'requestPut', value: { key, value } } });
  }

  /** Makes this process's unanswered writes ineffective. Rejects when another process works on the store. */
  async #fence(): Promise<void> {
    if (this.#record !== undefined) await this.#save(this.#record.record);
  }

  /** `before`: the replaced record, when this process has not written it. */
  async #save(record: StoreRecord, before?: Found): Promise<void> {
    const key = this.#access.keys.identityKey;
    const at = this.#record?.at ?? before?.modRevision ?? 0n;
    this.#record = { record, at };
    const value = encodeRecord(record);
    const revision = await this.#transact({ request: { case: 'requestPut', value: { key, value } } });
    this.#record = { record, at: revision };
  }

  async #transact(operation: OneOperation): Promise<bigint> {
    const { client, keys } = this.#access;
    const compare = {
      result: Compare_CompareResult.EQUAL,
      target: Compare_CompareTarget.MOD,
      key: keys.identityKey,
      targetUnion: { case: 'modRevision', value: this.#record?.at ?? 0n },
    } as const;
    const request = { compare: [compare], success: [operation] };
    // a repeated put or deletion has the same effect; a repeated write of the record would fail because of the first
    const repeatable = operation.request.value.key !== keys.identityKey;
    const { succeeded, header } = await withStorageErrors(
      client.call(KV.method.txn, request, { repeatable }),
    );
    if (succeeded) return header?.revision ?? 0n;
    throw new StorageError(
      'locked',
      `something else works on the store in ${this.name}, such as another migration or a server; stop it and try again`,
    );
  }

  async #refuseOccupied(): Promise<void> {
    const { readOnlyKey } = this.#access.keys;
    if ((await this.#access.found(readOnlyKey)) !== undefined) {
      throw new StorageError(
        'occupied',
        `${this.name} takes no writes, as its objects are being moved or were moved elsewhere; choose another --etcd-prefix, or delete the key ${Buffer.from(readOnlyKey).toString()}`,
      );
    }
    for await (const { key } of this.#access.objects(await this.#access.revision())) {
      throw new StorageError(
        'occupied',
        `${this.name} holds objects already, such as ${key}, and they are not replaced; choose another --etcd-prefix, or delete all that begins with it`,
      );
    }
  }
}

type OneOperation =
  | {
      readonly request: {
        readonly case: 'requestPut';
        readonly value: { key: Uint8Array; value: Uint8Array };
      };
    }
  | { readonly request: { readonly case: 'requestDeleteRange'; readonly value: { key: Uint8Array } } };

function isThere(wanted: Stored, there: Stored | undefined): boolean {
  return there !== undefined && sameValue(wanted, there);
}

/** A bounded number of writes at once. `add` waits for room, and throws the first failure. */
class Writes {
  readonly #write: (key: string, value: Uint8Array | null) => Promise<void>;
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;
  #ended = Promise.withResolvers<void>();
  #failure: { error: unknown } | undefined;

  constructor(write: (key: string, value: Uint8Array | null) => Promise<void>) {
    this.#write = write;
  }

  async add(key: string, value: Uint8Array | null): Promise<void> {
    while (this.#running.size >= atOnce.writes || this.#bytes >= atOnce.bytes) await this.#next();
    this.#refuseAfterFailure();
    const bytes = value?.byteLength ?? 0;
    this.#bytes += bytes;
    const running = this.#write(key, value)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#running.delete(running);
        this.#bytes -= bytes;
        this.#ended.resolve();
      });
    this.#running.add(running);
  }

  async done(): Promise<void> {
    await Promise.all(this.#running);
    this.#refuseAfterFailure();
  }

  /** Waits until one more write has ended. */
  async #next(): Promise<void> {
    this.#ended = Promise.withResolvers();
    await this.#ended.promise;
  }

  #refuseAfterFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
