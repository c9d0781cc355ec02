import type { ApiObject, Kind } from '../../api/index.ts';
import {
  apiVersionOf,
  DecodeError,
  decodeEnvelope,
  decodeObject,
  isRecord,
  servedKinds,
} from '../../api/index.ts';
import type { ReadValue, UnreadableValue } from '../storage/index.ts';
import { isProtobuf, whyEncrypted, withoutLineEnd } from '../storage/index.ts';
import { objectEncoding } from './encoding.ts';
import { prefixOf } from './write/keys.ts';

/*
 * Values of a store to which other programs write too. JSON stays as it is; protobuf, which is what a kube-apiserver writes
 * by default, becomes the JSON that this program would have stored. Everything is compared with its key:
 * an object under the key of another one is as unreadable as one that is damaged.
 */

/** Where an object is, by its key. */
interface Expected {
  readonly kind: Kind;
  readonly apiVersion: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

class UnreadableValueError extends Error {}

/** Reads the values of the stored kinds, for a store that is shared with other programs. */
export function createValueReader(groupSuffix: string, kinds: readonly Kind[] = servedKinds): ReadValue {
  const stored = kinds.filter((kind) => !kind.virtual && kind.storedAs === undefined);
  const served = new Map(
    stored.map((kind) => {
      const { encode } = objectEncoding(kind, groupSuffix);
      return [prefixOf(kind, ''), { kind, apiVersion: apiVersionOf(kind, groupSuffix), encode }];
    }),
  );

  return (key, value) => {
    const prefix = key.slice(0, key.indexOf('/', '/registry/'.length) + 1);
    const found = served.get(prefix);
    if (found === undefined) return value[0] === openingBrace ? withoutLineEnd(value) : undefined;
    const expected = { ...found, ...placeIn(found.kind, key.slice(prefix.length)) };
    return whyNot(() => {
      if (isProtobuf(value)) return found.encode(readProtobuf(expected, value));
      checkJson(expected, value);
      return withoutLineEnd(value);
    });
  };
}

const openingBrace = 0x7b;
const utf8 = new TextDecoder('utf-8', { fatal: true });

function whyNot(read: () => Uint8Array): Uint8Array | UnreadableValue {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableValueError) return { why: error.message };
    throw error;
  }
}

function placeIn({ namespaced }: Kind, rest: string): Pick<Expected, 'namespace' | 'name'> {
  if (!namespaced) return { namespace: undefined, name: rest };
  const end = rest.indexOf('/');
  return { namespace: rest.slice(0, Math.max(0, end)), name: rest.slice(end + 1) };
}

function readProtobuf(expected: Expected, bytes: Uint8Array): ApiObject {
  const { kind, apiVersion } = expected;
  const object = readMessage(expected, bytes);
  checkPlace(expected, object);
  return { ...object, kind: kind.kind, apiVersion };
}

function readMessage(expected: Expected, bytes: Uint8Array): ApiObject {
  const { kind, apiVersion } = expected;
  try {
    checkType(expected, decodeEnvelope(bytes));
    return decodeObject(kind, apiVersion, { encoding: 'protobuf', bytes }).object;
  } catch (error) {
    if (error instanceof UnreadableValueError) throw error;
    // what is wrong with it may name parts of it
    const why = kind.sensitive || !(error instanceof DecodeError) ? '' : `: ${error.message}`;
    throw new UnreadableValueError(`it is no valid protobuf of a ${kind.kind}${why}`);
  }
}

/** The value itself is not changed, so all that is checked is what makes it the object of its key. */
function checkJson(expected: Expected, value: Uint8Array): void {
  const why = whyEncrypted(value);
  if (why !== undefined) throw new UnreadableValueError(why);
  const object = parse(value);
  if (!isRecord(object)) throw new UnreadableValueError('its JSON is no object');
  checkType(expected, object);
  checkPlace(expected, object);
}

function parse(value: Uint8Array): unknown {
  if (value[0] !== openingBrace) throw new UnreadableValueError('its encoding is not known');
  try {
    return JSON.parse(utf8.decode(value));
  } catch {
    throw new UnreadableValueError('its JSON is damaged'); // the error shows parts of it
  }
}

function checkType(
  { kind, apiVersion }: Expected,
  type: { readonly kind?: unknown; readonly apiVersion?: unknown },
): void {
  if (type.kind === kind.kind && type.apiVersion === apiVersion) return;
  const is = `${shorten(type.apiVersion)} ${shorten(type.kind)}`;
  throw new UnreadableValueError(
    `it is of kind ${is}, and ${apiVersion} ${kind.kind} is what is stored here`,
  );
}

function checkPlace({ namespace, name }: Expected, { metadata }: { readonly metadata?: unknown }): void {
  if (!isRecord(metadata)) throw new UnreadableValueError('it has no metadata');
  const isInPlace = namespace === undefined || metadata['namespace'] === namespace;
  if (isInPlace && metadata['name'] === name) return;
  throw new UnreadableValueError('it is the object of another key: its name or namespace differs');
}

function shorten(text: unknown): string {
  return typeof text === 'string' ? text.slice(0, 100) : 'unknown';
}
