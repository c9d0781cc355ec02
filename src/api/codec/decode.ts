import { isGarblingKey, JsonError, parseJson } from '../json/index.ts';
import type { ApiObject, BodyType } from '../kinds/index.ts';
import type { Findings } from '../schema/index.ts';
import { checkerOf, complaintsLimit, isRecord, nameOf, typeNameOf } from '../schema/index.ts';
import type { EncodedBody, Encoding, TextBody } from './encoding.ts';
import { decodeEnvelope, decodeMessage, ProtobufError } from './protobuf/index.ts';
import { YamlError } from './yaml/index.ts';

/** An object as a client sent it, and everything about it that field validation wants to know. */
export interface Decoded<T> {
  object: T;
  /** `unknown field "spec.x"` and `duplicate field "spec.y"`, in this order, each once; protobuf knows neither. */
  complaints: string[];
}

/** A body that can never be accepted: not in its encoding, another kind, wrong field types. Answered with 400. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/**
 * Decodes the body of a write into an object of a type: strict types, unknown fields taken out and named.
 * An absent apiVersion or kind is filled in; another one is an error (specification, sections 2.1 and 4.8).
 */
export function decodeObject<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  body: EncodedBody,
): Decoded<T> {
  return checked(kind, apiVersion, parseBody(kind, apiVersion, body), false);
}

/** The same for a value that is parsed already. It is changed in place: nobody else may hold a part of it. */
export function decodeValue<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  value: unknown,
): Decoded<T> {
  return checked(kind, apiVersion, { value, duplicates: [] }, false);
}

/**
 * Decodes what is applied: as an object, but it must say its apiVersion and kind, and a zero, a null or an empty list in
 * it is said like any other value.
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
  return checked(kind, apiVersion, parsed, true);
}

function checked<T extends ApiObject>(
  kind: BodyType<T>,
  apiVersion: string,
  { value, duplicates }: Parsed,
  zerosStay: boolean,
): Decoded<T> {
  const findings: Findings = { unknown: [], wrong: [], sensitive: kind.sensitive ?? false, zerosStay };
  if (!isRecord(value))
    throw new DecodeError(`expected an object of kind ${kind.kind}, found ${told(kind, value)}`);
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
    complaints: [...complaintsOf('unknown', findings.unknown), ...complaintsOf('duplicate', duplicates)],
  };
}

/** One for each field; a last one says when there are more of them than are told. */
export function complaintsOf(sort: 'unknown' | 'duplicate', paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const told = paths.slice(0, complaintsLimit).map((path) => `${sort} field ${JSON.stringify(path)}`);
  if (told.length < paths.length) told.push(`and more than ${complaintsLimit} ${sort} fields in all`);
  return [...new Set(told)];
}

/** A copy as a server answers it: without zeros that say nothing, with quantities and times in canonical form. */
export function canonicalObject<T extends ApiObject>(kind: BodyType<T>, object: T): T {
  const kept = checkerOf(kind.root)(structuredClone(object), undefined, { unknown: [], wrong: [] });
  const typed = { ...withoutType(kept), kind: kind.kind };
  return isOfKind(kind, typed) ? typed : object;
}

/** Reads an object that the server itself has stored: it was checked when it was written. */
export function readStored<T extends ApiObject>(kind: BodyType<T>, bytes: Uint8Array): T {
  const value: unknown = JSON.parse(utf8.decode(bytes));
  if (!isOfKind(kind, value)) throw new Error(`stored bytes are no ${kind.kind}`);
  return value;
}

/** Reads an object that this server itself has made into JSON. */
export function parseObject(json: Uint8Array): ApiObject {
  const value: unknown = JSON.parse(utf8.decode(json));
  if (!isRecord(value)) throw new Error(`expected an object of the API, found ${nameOf(value)}`);
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DecodeError('the body is not valid UTF-8');
  }
}

/** What JSON, or YAML read as JSON, says. */
export interface Parsed {
  value: unknown;
  /** Paths of keys that stand more than once in their object, each once. */
  duplicates: readonly string[];
}

const shownNames = { json: 'JSON', yaml: 'YAML', protobuf: 'protobuf' };

function parseBody(kind: BodyType, apiVersion: string, body: EncodedBody): Parsed {
  if (body.encoding !== 'protobuf') return parseText(body);
  try {
    return parseProtobuf(kind, apiVersion, body.bytes);
  } catch (error) {
    throw error instanceof ProtobufError ? notValid('protobuf', error) : error;
  }
}

/** The value in a body of JSON or YAML, whatever it is; throws DecodeError. */
export function parseText(body: TextBody): Parsed {
  const text = readText(body.bytes);
  try {
    return body.encoding === 'yaml' ? body.read(text) : parseJson(text);
  } catch (error) {
    if (error instanceof JsonError || error instanceof YamlError) throw notValid(body.encoding, error);
    throw error;
  }
}

function notValid(encoding: Encoding, cause: Error): DecodeError {
  return new DecodeError(`the body is not valid ${shownNames[encoding]}: ${cause.message}`, { cause });
}

/** What an envelope says of its type is looked at first: another type's message means nothing here. */
function parseProtobuf(kind: BodyType, apiVersion: string, bytes: Uint8Array): Parsed {
  const { raw, ...type } = decodeEnvelope(bytes);
  expectType(kind, apiVersion, type);
  const value = decodeMessage(kind.root, raw);
  if (raw.includes(backslash)) refuseBackslashes(value);
  return { value, duplicates: [] };
}

const backslash = 0x5c;

/** In keys, for the reason that is told at parseJson. */
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

/** Throws unless an object says to be of this type, or says nothing. */
function expectType(
  kind: BodyType,
  apiVersion: string,
  value: { kind?: unknown; apiVersion?: unknown },
): void {
  expectName(kind, 'kind', value.kind, kind.kind);
  expectName(kind, 'apiVersion', value.apiVersion, apiVersion);
}

function expectName(kind: BodyType, name: string, given: unknown, expected: string): void {
  if (given === expected || given === undefined || given === null || given === '') return;
  throw new DecodeError(
    `the ${name} in the body is ${told(kind, given)}, but this path takes ${JSON.stringify(expected)}`,
  );
}

/** What a value is called in an error. */
function told({ sensitive }: BodyType, value: unknown): string {
  return sensitive ? typeNameOf(value) : nameOf(value);
}

function isOfKind<T extends ApiObject>(kind: BodyType<T>, value: unknown): value is T {
  return isRecord(value) && value['kind'] === kind.kind;
}
