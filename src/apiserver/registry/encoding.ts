import type { ApiObject, Kind, ObjectMeta, View } from '../../api/index.ts';
import { apiVersionOf, readStored } from '../../api/index.ts';
import type { Stored } from '../storage/index.ts';
import type { Splice } from './splice.ts';
import { spliceBehind } from './splice.ts';

/*
 * Stored bytes are the object's JSON without resourceVersion; the version is spliced in when they are shown. The
 * splice needs no parsing: every object of a kind is written with the same beginning, so the place where the
 * metadata opens is the same number of bytes into each. Others who write to the same etcd may write otherwise; that is
 * noticed, and parsed.
 *
 *     {"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{ ▲ "name":"a", …
 *                                                  "resourceVersion":"17",
 *
 * What a dry run would have created has revision 0 and shows none. A kind that is a view of another one is written as
 * that one, and read and rewritten to be shown.
 */

export interface ObjectEncoding<T extends ApiObject> {
  /** The bytes to store. */
  encode(object: T): Uint8Array;
  /** The object as it stands in the store, with its resourceVersion. A fresh copy: the caller may change it. */
  read(stored: Stored): T;
  /** The object in shown JSON. */
  parse(shown: Uint8Array): T;
  /** The JSON to show: the stored bytes with the version spliced in. */
  show(stored: Stored): Uint8Array;
  /** How `show` does it, for whoever has a place for the bytes already; undefined for a view, which is written anew. */
  readonly splice: Splice | undefined;
}

export function objectEncoding<T extends ApiObject>(kind: Kind<T>, groupSuffix: string): ObjectEncoding<T> {
  if (kind.storedAs !== undefined) return viewEncoding(kind, kind.storedAs, groupSuffix);
  const apiVersion = apiVersionOf(kind, groupSuffix);
  const opening = Buffer.from(
    `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":{`,
  );
  const encode = (object: T): Uint8Array => {
    const { kind: _kind, apiVersion: _version, metadata: whole = {}, ...rest } = object;
    const metadata = withoutVersion(whole);
    return bytesOf(JSON.stringify({ kind: kind.kind, apiVersion, metadata, ...rest }));
  };
  const read = (stored: Stored): T => {
    const object = readable(kind, stored);
    if (stored.revision > 0) {
      object.metadata = { ...object.metadata, resourceVersion: String(stored.revision) };
    }
    return object;
  };
  const splice = spliceBehind(opening, (stored) => encode(read(stored)));
  return {
    encode,
    read,
    parse: (shown) => readStored(kind, shown),
    show(stored) {
      if (stored.revision === 0) return stored.value;
      const shown = Buffer.allocUnsafe(splice.size(stored));
      splice.write(stored, shown, 0);
      return shown;
    },
    splice,
  };
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

/** In memory of their own: they are kept as they are. */
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
  return {
    encode: (object) => kept.encode(view.to(object)),
    read,
    parse: (shown) => readStored(kind, shown),
    show: (stored) => Buffer.from(JSON.stringify(read(stored))),
    splice: undefined,
  };
}
