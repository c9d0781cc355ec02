import type { Numbering } from '../renumbered-store.ts';
import type { StoreIdentity } from '../types.ts';

/** What is recorded of a store in etcd, as JSON. */
export interface StoreRecord extends StoreIdentity {
  /** How its revisions are counted; undefined: as etcd counts them. */
  readonly revisions?: Numbering | undefined;
  /** Objects are being moved hither: from where, and since when (RFC 3339). No server starts on it. */
  readonly incomplete?: { readonly from: string; readonly at: string } | undefined;
}

/** Who keeps writers off. */
export interface WritersMark {
  /** Where the objects go, for those refused. */
  readonly to: string;
  readonly at: string;
  /** For good: they are there now, and no server starts on this store. Else it goes with its lease. */
  readonly moved: boolean;
}

export function bytesOfRecord(record: StoreRecord | WritersMark): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

/** Undefined: it does not tell what the store is for. */
export function recordIn(value: Uint8Array): StoreRecord | undefined {
  const read = parsed(value);
  if (read === undefined || typeof read['groupSuffix'] !== 'string') return undefined;
  const { groupSuffix } = read;
  const incomplete = asRecord(read['incomplete']);
  const numbers = asRecord(read['revisions']);
  if (read['revisions'] !== undefined && !isNumbering(numbers)) return undefined;
  return {
    groupSuffix,
    revisions: isNumbering(numbers) ? numbers : undefined,
    incomplete: incomplete && { from: String(incomplete['from']), at: String(incomplete['at']) },
  };
}

/** One that cannot be understood keeps writers off all the same. */
export function markIn(value: Uint8Array): WritersMark {
  const read = parsed(value);
  const told = (name: string) => String(read?.[name] ?? 'unknown');
  return { to: told('to'), at: told('at'), moved: read?.['moved'] === true };
}

function isNumbering(value: unknown): value is Numbering {
  const record = asRecord(value);
  return [record?.['offset'], record?.['floor']].every(
    (number) => typeof number === 'number' && Number.isSafeInteger(number) && number >= 0,
  );
}

function parsed(value: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(Buffer.from(value).toString()));
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.fromEntries(Object.entries(value));
}
