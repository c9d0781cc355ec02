import { readJson } from '../foreign-values.ts';
import type { Listing, ReadValue, State, StoreChange, Stored, Unreadable } from '../types.ts';
import { isReadable } from '../types.ts';
import { bytesToKeep } from '../write-checks.ts';
import type { Event, KeyValue } from './gen/kv_pb.js';
import { Event_EventType } from './gen/kv_pb.js';
import type { KeyMap } from './key-map.ts';
import { EtcdError } from './wire/errors.ts';

/** A revision as a number. Throws when it is not a safe integer, which no store reaches. */
export function revisionOf(revision: bigint | undefined): number {
  const number = Number(revision ?? 0n);
  if (Number.isSafeInteger(number)) return number;
  throw new EtcdError('failed', `etcd's revision ${revision} is too large`);
}

/** A decoded event. `lost`: the previous state is unknown because it is compacted. */
export type DecodedEvent =
  | { readonly revision: number; readonly change: StoreChange }
  | { readonly revision: number; readonly lost: true }
  | { readonly revision: number };

/** Decodes the values in etcd. */
export class Values {
  readonly #keys: KeyMap;
  readonly #read: ReadValue;

  /** Without `read`, everything in the reference's protobuf or encryption is unreadable, and all else is taken as JSON. */
  constructor(keys: KeyMap, read: ReadValue = readJson) {
    this.#keys = keys;
    this.#read = read;
  }

  /** Undefined: it is not an object, or of a kind that is not served and not in JSON. */
  state(keyValue: KeyValue): State | undefined {
    const key = this.#keys.fromEtcd(keyValue.key);
    return key === undefined ? undefined : this.#of(key, keyValue);
  }

  decode({ type, kv, prevKv }: Event): DecodedEvent {
    const revision = revisionOf(kv?.modRevision);
    const key = kv && this.#keys.fromEtcd(kv.key);
    if (kv === undefined || key === undefined) return { revision };
    const isDeletion = type === Event_EventType.DELETE;
    if (prevKv === undefined && (isDeletion || kv.version > 1n)) return { revision, lost: true };
    const previous = (prevKv && this.#of(key, prevKv)) ?? null;
    const next = isDeletion ? null : (this.#of(key, kv) ?? null);
    if (previous === null && next === null) return { revision };
    return { revision, change: { key, revision, previous, next } };
  }

  #of(key: string, { modRevision, createRevision, value }: KeyValue): State | undefined {
    const read = this.#read(key, value);
    if (read === undefined) return undefined;
    const at = { key, revision: revisionOf(modRevision), createRevision: revisionOf(createRevision) };
    return read instanceof Uint8Array ? { ...at, value: bytesToKeep(read) } : { ...at, why: read.why };
  }
}

/** The part of a listing that is made of these states. */
export function toListing(states: readonly State[]): Pick<Listing, 'items' | 'unreadable'> {
  const items: Stored[] = [];
  const unreadable: Unreadable[] = [];
  for (const state of states) {
    if (isReadable(state)) items.push(state);
    else unreadable.push(state);
  }
  return unreadable.length === 0 ? { items } : { items, unreadable };
}
