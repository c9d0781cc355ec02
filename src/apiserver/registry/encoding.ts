import type { ApiObject, Kind, ObjectMeta, View } from '../../api/index.ts';
import { apiVersionOf, readStored, removeWrittenZeros, withWritten } from '../../api/index.ts';
import type { Stored } from '../storage/index.ts';
import type { Splice } from './splice.ts';
import { spliceBehind } from './splice.ts';

/*
 * Stored bytes are the object's JSON without resourceVersion; the version is spliced in when they are sent. The splice
 * needs no parsing: every object of a kind is written with the same beginning, so its metadata opens at the same byte
 * offset. Other programs that write to the same etcd may write another form; that is detected, and parsed.
 *
 *     {"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{ ▲ "name":"a", …
 *                                                  "resourceVersion":"17",
 *
 * An object that a dry run would have created has revision 0, and is sent without one. A kind that is a view of another
 * one is stored as that one, and converted when it is sent.
 */

export interface ObjectEncoding<T extends ApiObject> {
  /** The bytes to store: with the fields that are always written. */
  encode(object: T): Uint8Array;
  /**
   * The object with its resourceVersion, without what is written although it is null or zero. A fresh copy: the caller
   * may change it.
   */
  read(stored: Stored): T;
  /** The object as `show` returns it. */
  readWhole(stored: Stored): T;
  /** The object in JSON as `show` returns it. */
  parse(json: Uint8Array): T;
  /**
   * Where the metadata open in stored bytes that begin as this program writes those of the kind, and are the object's JSON
   * but for the version; 0 for any others, and always for a view.
   */
  metadataAt(stored: Stored): number;
  /** The JSON to send: the stored bytes with the version spliced in. */
  show(stored: Stored): Uint8Array;
  /** Does the same in a buffer of the caller; undefined for a view, which must be converted, and for what is not stored. */
  readonly splice: Splice | undefined;
}

export function objectEncoding<T extends ApiObject>(kind: Kind<T>, groupSuffix: string): ObjectEncoding<T> {
  if (kind.storedAs !== undefined) return viewEncoding(kind, kind.storedAs, groupSuffix);
  const apiVersion = apiVersionOf(kind, groupSuffix);
  const opening = Buffer.from(
    `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`,
  );
  const encode = (object: T): Uint8Array => {
    const {
      kind: _kind,
      apiVersion: _version,
      metadata: whole = {},
      ...rest
    } = withWritten(kind.root, object);
    const metadata = withoutVersion(whole);
    return bytesOf(JSON.stringify({ kind: kind.kind, apiVersion, metadata, ...rest }));
  };
  const readWhole = (stored: Stored): T => {
    const object = readable(kind, stored);
    if (stored.revision > 0) {
      object.metadata = { ...object.metadata, resourceVersion: String(stored.revision) };
    }
    return object;
  };
  const read = (stored: Stored): T => {
    const object = readWhole(stored);
    removeWrittenZeros(kind.root, object);
    return object;
  };
  const splice = spliceBehind(opening, (stored) => encode(read(stored)));
  return {
    encode,
    read,
    readWhole,
    parse: (json) => readStored(kind, json),
    metadataAt: ({ value }) => (beginsWith(value, opening) ? opening.length - 1 : 0),
    show(stored) {
      if (stored.revision === 0) return stored.value;
      const json = Buffer.allocUnsafe(splice.size(stored));
      splice.write(stored, json, 0);
      return json;
    },
    splice: kind.virtual ? undefined : splice, // what is not stored has no version
  };
}

function beginsWith(value: Uint8Array, opening: Uint8Array): boolean {
  for (let index = 0; index < opening.length; index++) if (value[index] !== opening[index]) return false;
  return true;
}

/** Throws an Error that says which object it is. */
function readable<T extends ApiObject>(kind: Kind<T>, { key, value }: Stored): T {
  try {
    return readStored(kind, value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`what is stored as ${key} cannot be read: ${why}`, { cause: error });
  }
}

function withoutVersion(metadata: ObjectMeta): ObjectMeta {
  if (metadata.resourceVersion === undefined) return metadata;
  const { resourceVersion: _version, ...others } = metadata;
  return others;
}

/** In a buffer of their own, not a pooled one: the store keeps them as they are. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function viewEncoding<T extends ApiObject>(
  kind: Kind<T>,
  view: View<T>,
  groupSuffix: string,
): ObjectEncoding<T> {
  const kept = objectEncoding(view.kind, groupSuffix);
  const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, groupSuffix) };
  const read = (stored: Stored): T => ({ ...view.from(kept.read(stored)), ...type });
  const readWhole = (stored: Stored): T => withWritten(kind.root, read(stored));
  return {
    encode: (object) => kept.encode(view.to(object)),
    read,
    readWhole,
    parse: (json) => readStored(kind, json),
    metadataAt: () => 0,
    show: (stored) => Buffer.from(JSON.stringify(readWhole(stored))),
    splice: undefined,
  };
}
