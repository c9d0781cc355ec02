import { isGarblingKey, JsonError, parseJson, withoutHalves } from '../json/index.ts';
import type { ApiObject, BodyType } from '../kinds/index.ts';
import type { Findings, Type } from '../schema/index.ts';
import { checkerOf, complaintsLimit, isRecord, nameOf, typeNameOf } from '../schema/index.ts';
import type { EncodedBody, Encoding, TextBody } from './encoding.ts';
import { decodeEnvelope, decodeMessage, ProtobufError } from './protobuf/index.ts';
import { readRepeated } from './repeated-keys.ts';
import { YamlError } from './yaml/index.ts';

/** An object as a client sent it, with what field validation reports about it. */
export interface Decoded<T> {
  object: T;
  /** `unknown field "spec.x"`, then `duplicate field "spec.y"`, each once; always empty for protobuf. */
  complaints: string[];
}

/** A body that can never be accepted: malformed, of another kind, or with wrong field types. The answer is 400. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/**
 * Decodes the body of a write into an object of a type. Types are strict; unknown fields are removed and reported.
 * An absent apiVersion or kind is filled in; a wrong one is an error (specification, sections 2.1 and 4.8).
 */
export function decodeObject<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  body: EncodedBody,
): Decoded<T> {
  return checkBody(kind, apiVersion, parseBody(kind, apiVersion, body), false);
}

/** The same for a value that is parsed already. It is changed in place: the caller must not share parts of it. */
export function decodeValue<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  value: unknown,
): Decoded<T> {
  return checkBody(kind, apiVersion, { value, duplicates: [] }, false);
}

/**
 * Decodes a configuration to apply: like an object, but apiVersion and kind are required, and zeros, nulls and empty lists
 * are kept like any other value.
 */
export function decodeConfiguration<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  body: EncodedBody,
): Decoded<T> {
  const parsed = parseBody(kind, apiVersion, body);
  for (const name of ['apiVersion', 'kind']) {
    if (!isRecord(parsed.value) || parsed.value[name]) continue;
    throw new DecodeError(`the body does not say its ${name}: what is applied must`);
  }
  return checkBody(kind, apiVersion, parsed, true);
}

function checkBody<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  { value, duplicates }: Parsed,
  zerosStay: boolean,
): Decoded<T> {
  const findings: Findings = { unknown: [], wrong: [], sensitive: kind.sensitive ?? false, zerosStay };
  if (!isRecord(value))
    throw new DecodeError(`expected an object of kind ${kind.kind}, found ${describeValue(kind, value)}`);
  expectType(kind, apiVersion, value);
  const kept = checkerOf(kind.root)(value, undefined, findings);
  if (findings.wrong.length > 0) {
    const all = findings.wrong.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new DecodeError(`${kind.kind} cannot be read: ${all}`);
  }
  const object = { kind: kind.kind, apiVersion, ...withoutType(kept) };
  if (!isOfKind(kind, object)) throw new DecodeError(`expected an object of kind ${kind.kind}`);
  return {
    object,
    complaints: [
      ...formatComplaints('unknown', findings.unknown),
      ...formatComplaints('duplicate', duplicates),
    ],
  };
}

/** Formats one complaint for each field, up to a limit; a last one says that there are more. */
export function formatComplaints(sort: 'unknown' | 'duplicate', paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const complaints = paths.slice(0, complaintsLimit).map((path) => `${sort} field ${JSON.stringify(path)}`);
  if (complaints.length < paths.length)
    complaints.push(`and more than ${complaintsLimit} ${sort} fields in all`);
  return [...new Set(complaints)];
}

/** A copy in the form that a server returns: without zeros that equal absence, quantities and times canonical. */
export function canonicalObject<T extends ApiObject>(kind: BodyType<T>, object: T): T {
  const kept = checkerOf(kind.root)(structuredClone(object), undefined, { unknown: [], wrong: [] });
  const typed = { ...withoutType(kept), kind: kind.kind };
  return isOfKind(kind, typed) ? typed : object;
}

/** Reads an object that the server itself has stored; it was checked when it was written. */
export function readStored<T extends ApiObject>(kind: BodyType<T>, bytes: Uint8Array): T {
  const value: unknown = JSON.parse(utf8.decode(bytes));
  if (!isOfKind(kind, value)) throw new Error(`stored bytes are no ${kind.kind}`);
  return value;
}

/** Reads an object that this server itself has encoded as JSON. */
export function parseObject(json: Uint8Array): ApiObject {
  const value: unknown = JSON.parse(utf8.decode(json));
  if (!isRecord(value)) throw new Error(`expected an object of the API, found ${nameOf(value)}`);
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Keeps a byte order mark, which JSON must not have. */
const utf8WithMark = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readText({ bytes, encoding }: TextBody): string {
  try {
    return (encoding === 'json' ? utf8WithMark : utf8).decode(bytes);
  } catch {
    throw new DecodeError('the body is not valid UTF-8');
  }
}

/** A parsed body of JSON, or of YAML as the same JSON value. */
export interface Parsed {
  value: unknown;
  /** Paths of keys that occur more than once in their object, each once. */
  duplicates: readonly string[];
}

const encodingNames = { json: 'JSON', yaml: 'YAML', protobuf: 'protobuf' };

function parseBody(kind: BodyType, apiVersion: string, body: EncodedBody): Parsed {
  if (body.encoding !== 'protobuf') return withObject(parseTyped(kind.root, body));
  try {
    return parseProtobuf(kind, apiVersion, body.bytes);
  } catch (error) {
    throw error instanceof ProtobufError ? notValid('protobuf', error) : error;
  }
}

/** To a program in Go, null is an object in which nothing is set. */
function withObject(parsed: Parsed): Parsed {
  return parsed.value === null ? { ...parsed, value: {} } : parsed;
}

/** Parses a body of JSON or YAML to any value; throws DecodeError. Of a key that occurs twice, the last value counts. */
export function parseText(body: TextBody): Parsed {
  return parseTyped(undefined, body);
}

/** The same for an object of a type: of a key that occurs twice in JSON, both values count as in the reference. */
function parseTyped(type: Type | undefined, body: TextBody): Parsed {
  const text = readText(body);
  try {
    if (body.encoding === 'yaml') return body.read(text);
    const parsed = parseJson(text);
    if (type === undefined || parsed.duplicates.length === 0) return parsed;
    return { ...parsed, value: withoutHalves(readRepeated(type, text)) };
  } catch (error) {
    if (error instanceof JsonError || error instanceof YamlError) throw notValid(body.encoding, error);
    throw error;
  }
}

function notValid(encoding: Encoding, cause: Error): DecodeError {
  return new DecodeError(`the body is not valid ${encodingNames[encoding]}: ${cause.message}`, { cause });
}

/** Checks the type in the envelope first: the message of another type cannot be decoded. */
function parseProtobuf(kind: BodyType, apiVersion: string, bytes: Uint8Array): Parsed {
  const { raw, ...type } = decodeEnvelope(bytes);
  expectType(kind, apiVersion, type);
  const value = decodeMessage(kind.root, raw);
  if (raw.includes(backslash)) refuseBackslashes(value);
  return { value, duplicates: [] };
}

const backslash = 0x5c;

/** Refuses backslashes in keys; parseJson has the reason. */
function refuseBackslashes(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) refuseBackslashes(item);
  } else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (isGarblingKey(key)) throw new DecodeError('this server takes no keys with a backslash in them');
      refuseBackslashes(inner);
    }
  }
}

function withoutType(value: unknown): object {
  if (!isRecord(value)) return {};
  const { apiVersion: _version, kind: _kind, ...rest } = value;
  return rest;
}

/** Throws when kind or apiVersion is present and not that of this type, or an older one of it. */
function expectType(
  kind: BodyType,
  apiVersion: string,
  value: { kind?: unknown; apiVersion?: unknown },
): void {
  expectName(kind, 'kind', value.kind, kind.kind);
  const isOlder = kind.olderApiVersions?.some((older) => older === value.apiVersion) === true;
  if (!isOlder) expectName(kind, 'apiVersion', value.apiVersion, apiVersion);
}

function expectName(kind: BodyType, name: string, given: unknown, expected: string): void {
  if (given === expected || given === undefined || given === null || given === '') return;
  throw new DecodeError(
    `the ${name} in the body is ${describeValue(kind, given)}, but this path takes ${JSON.stringify(expected)}`,
  );
}

/** Describes a value in an error; only by its type when the kind is sensitive. */
function describeValue({ sensitive }: BodyType, value: unknown): string {
  return sensitive ? typeNameOf(value) : nameOf(value);
}

function isOfKind<T extends ApiObject>(kind: BodyType<T>, value: unknown): value is T {
  return isRecord(value) && value['kind'] === kind.kind;
}
