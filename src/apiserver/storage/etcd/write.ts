import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Outcome, Stored, Unreadable, Write } from '../types.ts';
import type { KeyValue } from './gen/kv_pb.js';
import type { RequestOpSchema, TxnRequestSchema, TxnResponse } from './gen/rpc_pb.js';
import { Compare_CompareResult, Compare_CompareTarget, KV } from './gen/rpc_pb.js';
import type { WritersMark } from './store-record.ts';
import { parseMark } from './store-record.ts';
import type { Values } from './values.ts';
import { revisionOf } from './values.ts';
import { EtcdError } from './wire/errors.ts';

/** Compares and writes one object; the response holds the present state when it is not as expected. */
export const transact = KV.method.txn;

type Operation = MessageInitShape<typeof RequestOpSchema>;

/** One object in one transaction, so that it has a revision of its own; nothing is written while `readOnlyKey` exists. */
export function createTransaction(
  { expect, value }: Write,
  key: Uint8Array,
  readOnlyKey: Uint8Array,
  knowsCreation: boolean,
): MessageInitShape<typeof TxnRequestSchema> {
  const read = (keysOnly: boolean): Operation => ({
    request: { case: 'requestRange', value: { key, keysOnly } },
  });
  const write: Operation =
    value === null
      ? { request: { case: 'requestDeleteRange', value: { key } } }
      : { request: { case: 'requestPut', value: { key, value } } };
  const compare = {
    result: Compare_CompareResult.EQUAL,
    target: Compare_CompareTarget.MOD,
    key,
    targetUnion: { case: 'modRevision', value: BigInt(expect) },
  } as const;
  // to delete an object that must be absent is a conflict in any case
  const impossible = { ...compare, targetUnion: { case: 'modRevision', value: -1n } } as const;
  return {
    compare: [
      expect === 0 && value === null ? impossible : compare,
      { ...absent, key: readOnlyKey, targetUnion: { case: 'modRevision', value: 0n } },
    ],
    success: knowsCreation || value === null ? [write] : [write, read(true)],
    failure: [{ request: { case: 'requestRange', value: { key: readOnlyKey } } }, read(false)],
  };
}

const absent = { result: Compare_CompareResult.EQUAL, target: Compare_CompareTarget.MOD } as const;

/** The object's createRevision, when the writer has passed the previous state. */
export function findKnownCreation({ key, expect, previous }: Write): number | undefined {
  return previous?.key === key && previous.revision === expect && expect > 0
    ? previous.createRevision
    : undefined;
}

/** The result in etcd's response. `revision` is the store's when nothing was written, else the write's own. */
export function outcomeOf(write: Write, response: TxnResponse, values: Values): Written | Failed {
  const revision = revisionOf(response.header?.revision);
  if (!response.succeeded) {
    const mark = findReadOnlyMark(response);
    if (mark !== undefined) return { ok: false, code: 'held', revision, mark };
    const found = keyValueOf(response);
    const now = found === undefined ? null : (values.state(found) ?? strangerAt(write.key, found));
    return { ok: false, code: 'conflict', now, revision };
  }
  const { key, value } = write;
  if (value === null) return { ok: true, revision, now: null };
  const created = write.expect === 0 ? revision : (findKnownCreation(write) ?? creationOf(response));
  const now: Stored = { key, revision, createRevision: created, value };
  return { ok: true, revision, now };
}

export type Written = Extract<Outcome, { ok: true } | { code: 'conflict' }>;

/** No server may write now. */
export type Failed = {
  readonly ok: false;
  readonly code: 'held';
  readonly revision: number;
  readonly mark: WritersMark;
};

/** What another program has stored there, of a kind that is not served. */
function strangerAt(key: string, { modRevision, createRevision }: KeyValue): Unreadable {
  const at = { key, revision: revisionOf(modRevision), createRevision: revisionOf(createRevision) };
  return { ...at, why: 'another program has stored it in an encoding that is not known' };
}

function findReadOnlyMark({ responses }: TxnResponse): WritersMark | undefined {
  const read = responses[0]?.response;
  const found = read?.case === 'responseRange' ? read.value.kvs[0] : undefined;
  return found && parseMark(found.value);
}

function keyValueOf({ responses }: TxnResponse) {
  const read = responses.at(-1)?.response;
  return read?.case === 'responseRange' ? read.value.kvs[0] : undefined;
}

function creationOf(response: TxnResponse): number {
  const found = keyValueOf(response);
  if (found === undefined) throw new EtcdError('unknown', 'etcd did not tell when the object was created');
  return revisionOf(found.createRevision);
}
