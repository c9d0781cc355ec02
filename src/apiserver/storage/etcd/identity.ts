import type { Numbering } from '../renumbered-store.ts';
import type { StoreIdentity } from '../types.ts';
import { StorageError } from '../types.ts';
import type { TxnResponse } from './gen/rpc_pb.js';
import { Compare_CompareResult, Compare_CompareTarget, KV } from './gen/rpc_pb.js';
import type { KeyMap } from './key-map.ts';
import { encodeRecord, parseMark, parseRecord } from './store-record.ts';
import type { EtcdClient } from './wire/client.ts';

/**
 * Records the identity of a new store, or compares that of an existing one. Returns how its revisions are counted;
 * undefined: as etcd counts them. Rejects with a StorageError (`wrongIdentity`, `corrupt`, `moved`) or an EtcdError.
 */
export async function checkIdentity(
  client: EtcdClient,
  keys: KeyMap,
  identity: StoreIdentity,
): Promise<Numbering | undefined> {
  const key = keys.identityKey;
  const { groupSuffix } = identity;
  const value = encodeRecord({ groupSuffix });
  const compare = { result: Compare_CompareResult.EQUAL, target: Compare_CompareTarget.VERSION, key };
  const mark = { request: { case: 'requestRange', value: { key: keys.readOnlyKey } } } as const;
  const response = await client.call(
    KV.method.txn,
    {
      compare: [{ ...compare, targetUnion: { case: 'version', value: 0n } }],
      success: [{ request: { case: 'requestPut', value: { key, value } } }, mark],
      failure: [{ request: { case: 'requestRange', value: { key } } }, mark],
    },
    { repeatable: true },
  );
  const place = `the store at ${Buffer.from(key).toString()} in etcd at ${client.name}`;
  refuseMoved(place, Buffer.from(keys.readOnlyKey).toString(), valueAt(response, 1));
  if (response.succeeded) return undefined;
  const found = valueAt(response, 0);
  const recorded = found && parseRecord(found);
  if (recorded === undefined) throw new StorageError('corrupt', `${place} does not tell what it is for`);
  if (recorded.groupSuffix !== groupSuffix) {
    throw new StorageError(
      'wrongIdentity',
      `${place} is for the group suffix ${recorded.groupSuffix}, not ${groupSuffix}; use another --etcd-prefix`,
    );
  }
  if (recorded.incomplete === undefined) return recorded.revisions;
  const { from, at } = recorded.incomplete;
  throw new StorageError(
    'moved',
    `${place} is not complete: a migration from ${from} into it, begun at ${at}, has not ended; run it again`,
  );
}

/** Objects that were moved elsewhere must not be served from here, where they are outdated. */
function refuseMoved(place: string, key: string, found: Uint8Array | undefined): void {
  const mark = found && parseMark(found);
  if (!mark?.moved) return;
  throw new StorageError(
    'moved',
    `the objects of ${place} were moved to ${mark.to} at ${mark.at}: start the server there; to go on here instead, without what was written since, delete the key ${key}`,
  );
}

function valueAt({ responses }: TxnResponse, index: number): Uint8Array | undefined {
  const read = responses[index]?.response;
  return read?.case === 'responseRange' ? read.value.kvs[0]?.value : undefined;
}
