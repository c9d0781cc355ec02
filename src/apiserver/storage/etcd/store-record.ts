import { isRecord, tryParseRecord } from '../../../base/index.ts';
import type { Numbering } from '../renumbered-store.ts';
import type { StoreIdentity } from '../types.ts';

/** The record of a store in etcd, stored as JSON. */
export interface StoreRecord extends StoreIdentity {
  /** How its revisions are counted; undefined: as etcd counts them. */
  readonly revisions?: Numbering | undefined;
  /** Objects are being moved here: from where, and since when (RFC 3339). No server starts on such a store. */
  readonly incomplete?: { readonly from: string; readonly at: string } | undefined;
}

/** The migration that keeps writers off. */
export interface WritersMark {
  /** Where the objects go, for those refused. */
  readonly to: string;
  readonly at: string;
  /** For good: the objects are there now, and no server starts on this store. Otherwise it expires with its lease. */
  readonly moved: boolean;
}

export function encodeRecord(record: StoreRecord | WritersMark): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

/** Undefined: it is not the record of a store. */
export function parseRecord(value: Uint8Array): StoreRecord | undefined {
  const read = tryParseRecord(Buffer.from(value).toString());
  if (read === undefined || typeof read['groupSuffix'] !== 'string') return undefined;
  const { groupSuffix } = read;
  const { incomplete, revisions } = read;
  if (revisions !== undefined && !isNumbering(revisions)) return undefined;
  return {
    groupSuffix,
    revisions,
    incomplete: isRecord(incomplete)
      ? { from: String(incomplete['from']), at: String(incomplete['at']) }
      : undefined,
  };
}

/** An unreadable mark keeps writers off all the same. */
export function parseMark(value: Uint8Array): WritersMark {
  const read = tryParseRecord(Buffer.from(value).toString());
  const field = (name: string) => String(read?.[name] ?? 'unknown');
  return { to: field('to'), at: field('at'), moved: read?.['moved'] === true };
}

function isNumbering(value: unknown): value is Numbering {
  if (!isRecord(value)) return false;
  return [value['offset'], value['floor']].every(
    (number) => typeof number === 'number' && Number.isSafeInteger(number) && number >= 0,
  );
}
