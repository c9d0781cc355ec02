import type { Change, Stored } from '../types.ts';
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
  | { readonly revision: number; readonly change: Change }
  | { readonly revision: number; readonly lost: true }
  | { readonly revision: number };

/** Decodes the values in etcd. A value that is not the JSON of an object counts as absent, and `unreadable` is called. */
export class Values {
  readonly #keys: KeyMap;
  readonly #unreadable: (key: string) => void;

  constructor(keys: KeyMap, unreadable: (key: string) => void) {
    this.#keys = keys;
    this.#unreadable = unreadable;
  }

  /** Undefined: it is not an object, or in an encoding that this program cannot read. */
  stored(keyValue: KeyValue): Stored | undefined {
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

  #of(key: string, { modRevision, createRevision, value }: KeyValue): Stored | undefined {
    if (isForeign(value)) {
      this.#unreadable(key);
      return undefined;
    }
    return {
      key,
      revision: revisionOf(modRevision),
      createRevision: revisionOf(createRevision),
      value: bytesToKeep(withoutLineEnd(value)),
    };
  }
}

/** How the reference's protobuf and encrypted values begin. */
const foreign = [Buffer.from('k8s\0'), Buffer.from('k8s:enc:')];

function isForeign(value: Uint8Array): boolean {
  if (value[0] !== 0x6b) return false;
  return foreign.some((start) => Buffer.compare(value.subarray(0, start.length), start) === 0);
}

/** The reference ends its JSON with a line feed, which would end the line of an event in a watch. */
function withoutLineEnd(value: Uint8Array): Uint8Array {
  const isObject = value[0] === 0x7b && value[value.length - 1] === 0x0a;
  return isObject ? value.subarray(0, -1) : value;
}
