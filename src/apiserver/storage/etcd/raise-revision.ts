import type { Logger } from '../../../base/index.ts';
import type { Revision } from '../types.ts';
import { compactEtcd } from './compactor.ts';
import { KV } from './gen/rpc_pb.js';
import { revisionOf } from './values.ts';
import type { EtcdClient } from './wire/client.ts';

/** Puts under way at once. */
const atOnce = 64;

/** Raising by more would take too long: about 4,000 revisions are written in a second. */
export const maxRaised = 1_000_000;

export interface RaiseOptions {
  readonly client: EtcdClient;
  /** Written repeatedly. */
  readonly key: Uint8Array;
  readonly from: Revision;
  /** Where the revision has been before. */
  readonly beyond: Revision;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * After etcd was put back to an earlier state it would issue some revisions a second time, and a client that continues
 * from one of the first ones would miss changes. So this writes until all of those revisions are used, then forgets
 * history up to there: on every server, a client that comes with one of them gets the answer that it is too old. Resolves
 * with whether that was done; rejects with an EtcdError.
 */
export async function raiseRevision({
  client,
  key,
  from,
  beyond,
  log,
  signal,
}: RaiseOptions): Promise<boolean> {
  if (beyond - from > maxRaised) {
    log.error(
      { from, beyond },
      'etcd was put back too far for its revision to be raised: clients that go on from before may miss changes; restart them',
    );
    return false;
  }
  let revision = from;
  const value = { key, value: Buffer.from(String(beyond)) };
  const put = { success: [{ request: { case: 'requestPut', value } as const }] };
  async function write(): Promise<void> {
    while (revision < beyond && !signal.aborted) {
      const { header } = await client.call(KV.method.txn, put, { repeatable: true, cancel: signal });
      revision = Math.max(revision, revisionOf(header?.revision));
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, beyond - from) }, write));
  if (signal.aborted) return false;
  await compactEtcd(client, beyond);
  log.warn({ from, beyond }, 'the revision of etcd was raised to where it has been before');
  return true;
}
