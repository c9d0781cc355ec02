import type { ApiObject, Kind } from '../kinds/index.ts';
import type { Findings } from '../schema/index.ts';
import { checkerOf, isRecord, nameOf } from '../schema/index.ts';
import { JsonError, parseJson } from './json.ts';

/** An object as a client sent it, and everything about it that field validation wants to know. */
export interface Decoded<T> {
  object: T;
  /** `unknown field "spec.x"` and `duplicate field "spec.y"`, in this order, each once. */
  complaints: string[];
}

/** A body that can never be accepted: no JSON, another kind, wrong field types. Answered with 400. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/**
 * Decodes the JSON body of a write into an object of `kind`: strict types, unknown fields taken out and named.
 * An absent apiVersion or kind is filled in; another one is an error (specification, sections 2.1 and 4.8).
 */
export function decodeObject<T extends ApiObject>(
  kind: Kind<T>,
  apiVersion: string,
  text: string,
): Decoded<T> {
  const { value, duplicates } = parse(text);
  const findings: Findings = { unknown: [], wrong: [] };
  if (!isRecord(value))
    throw new DecodeError(`expected an object of kind ${kind.kind}, found ${nameOf(value)}`);
  expectType(value, 'kind', kind.kind);
  expectType(value, 'apiVersion', apiVersion);
  const kept = checkerOf(kind.root)(value, undefined, findings);
  if (findings.wrong.length > 0) {
    const all = findings.wrong.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new DecodeError(`${kind.kind} cannot be read: ${all}`);
  }
  const object = { kind: kind.kind, apiVersion, ...withoutType(kept) };
  if (!isOfKind(kind, object)) throw new DecodeError(`expected an object of kind ${kind.kind}`);
  const complaints = [
    ...findings.unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ];
  return { object, complaints: [...new Set(complaints)] };
}

/** Reads an object that the server itself has stored: it was checked when it was written. */
export function readStored<T extends ApiObject>(kind: Kind<T>, bytes: Uint8Array): T {
  const value: unknown = JSON.parse(utf8.decode(bytes));
  if (!isOfKind(kind, value)) throw new Error(`stored bytes are no ${kind.kind}`);
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(text: string) {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) throw new DecodeError(`the body is not valid JSON: ${error.message}`);
    throw error;
  }
}

function withoutType(value: unknown): object {
  if (!isRecord(value)) return {};
  const { apiVersion: _version, kind: _kind, ...rest } = value;
  return rest;
}

function expectType(value: Record<string, unknown>, name: 'kind' | 'apiVersion', expected: string): void {
  const given = value[name];
  if (given === undefined || given === null || given === '' || given === expected) return;
  throw new DecodeError(
    `the ${name} in the body is ${nameOf(given)}, but this path takes ${JSON.stringify(expected)}`,
  );
}

function isOfKind<T extends ApiObject>(kind: Kind<T>, value: unknown): value is T {
  return isRecord(value) && value['kind'] === kind.kind;
}
