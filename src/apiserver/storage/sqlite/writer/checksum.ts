import { crc32 } from 'node:zlib';
import type { Revision } from '../../types.ts';

/** The columns beside the value in a row of the log. A `createRevision` of 0: a deletion. */
export interface LogEntry {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
  readonly previousRevision: Revision;
}

/** The store's own record. */
export interface StoreRecord {
  readonly groupSuffix: string;
  readonly revision: Revision;
  readonly compacted: Revision;
  /** The size of the rows that only history needs. */
  readonly historyBytes: number;
}

/** CRC-32 of a row with its value: SQLite itself does not detect a flipped bit inside a value. */
export function rowChecksum(entry: LogEntry, value: Uint8Array): number {
  const { key, revision, createRevision, previousRevision } = entry;
  return crc32(value, crc32(`${key}\n${revision} ${createRevision} ${previousRevision}`));
}

export function recordChecksum({ groupSuffix, revision, compacted, historyBytes }: StoreRecord): number {
  return crc32(`${groupSuffix}\n${revision} ${compacted} ${historyBytes}`);
}

/** The size of a row, including its share of the trees. In SQL: `rowBytesSql`. */
export function rowBytes(key: string, value: Uint8Array | null): number {
  return Buffer.byteLength(key) + (value?.byteLength ?? 0) + overheadBytes;
}

const overheadBytes = 64;

/** As rowBytes, of columns `key` and `value`; it does not read the value. */
export const rowBytesSql = `octet_length(key) + length(value) + ${overheadBytes}`;
