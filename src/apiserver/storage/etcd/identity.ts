import type { StoreIdentity } from '../types.ts';
import { StorageError } from '../types.ts';
import type { EtcdClient } from './client.ts';
import { Compare_CompareResult, Compare_CompareTarget, KV } from './gen/rpc_pb.js';
import type { KeyMap } from './key-map.ts';

/**
 * Records what the store is for when it is new, else compares. Rejects with a StorageError (`wrongIdentity`,
 * `corrupt`) or an EtcdError.
 */
export async function checkIdentity(
  client: EtcdClient,
  keys: KeyMap,
  identity: StoreIdentity,
): Promise<void> {
  const key = keys.identityKey;
  const { groupSuffix } = identity;
  const value = Buffer.from(JSON.stringify({ groupSuffix }));
  const compare = { result: Compare_CompareResult.EQUAL, target: Compare_CompareTarget.VERSION, key };
  const response = await client.call(
    KV.method.txn,
    {
      compare: [{ ...compare, targetUnion: { case: 'version', value: 0n } }],
      success: [{ request: { case: 'requestPut', value: { key, value } } }],
      failure: [{ request: { case: 'requestRange', value: { key } } }],
    },
    { repeatable: true },
  );
  if (response.succeeded) return;
  const read = response.responses[0]?.response;
  const found = read?.case === 'responseRange' ? read.value.kvs[0] : undefined;
  const recorded = found === undefined ? undefined : suffixIn(found.value);
  if (recorded === groupSuffix) return;
  const name = Buffer.from(key).toString();
  if (recorded === undefined) {
    throw new StorageError(
      'corrupt',
      `${name} in etcd at ${client.name} does not tell what the store is for`,
    );
  }
  throw new StorageError(
    'wrongIdentity',
    `the store at ${name} in etcd at ${client.name} is for the group suffix ${recorded}, not ${groupSuffix}; use another --etcd-prefix`,
  );
}

function suffixIn(value: Uint8Array): string | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(value).toString());
    if (typeof read !== 'object' || read === null || !('groupSuffix' in read)) return undefined;
    return typeof read.groupSuffix === 'string' ? read.groupSuffix : undefined;
  } catch {
    return undefined;
  }
}
