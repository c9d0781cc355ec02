import type { ApiObject, BodyType, ListOf, Status, StatusReason } from '../api/index.ts';
import { apiVersionOf, fromStatus, isRecord, replaceNulls, StatusError } from '../api/index.ts';
import { tryParseRecord } from '../base/index.ts';
import { unintelligibleError } from './errors.ts';
import type { RawAnswer } from './transport.ts';

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** In a bookmark only metadata.resourceVersion is meaningful. */
  object: T;
}

/**
 * Parses the responses of a server for one kind; throws a ConnectionError for anything else. A null that a server in Go
 * writes for an empty list, or for what is not set, is replaced as the kind's description says.
 */
export class ResponseParser<T extends ApiObject> {
  readonly #server: string;
  readonly #kind: BodyType<T>;
  readonly #apiVersion: string;

  constructor(server: string, kind: BodyType<T>, groupSuffix: string) {
    this.#server = server;
    this.#kind = kind;
    this.#apiVersion = apiVersionOf(kind, groupSuffix);
  }

  parseObject(text: string): T {
    const value: unknown = this.#parse(text);
    if (this.#isOfKind(value)) return this.#withoutNulls(value);
    throw this.#unintelligible(`something else than a ${this.#kind.kind}: ${this.#excerpt(text)}`);
  }

  /** Items get the kind and apiVersion that servers leave out in lists. */
  parseList(text: string): ListOf<T> {
    const { kind } = this.#kind;
    const { kind: listKind, items, metadata } = this.#parse(text);
    const all: unknown = items ?? []; // null for an empty list from some servers
    if (listKind !== `${kind}List` || !Array.isArray(all) || !isRecord(metadata ?? {})) {
      throw this.#unintelligible(`something else than a list of ${kind} objects: ${this.#excerpt(text)}`);
    }
    const apiVersion = this.#apiVersion;
    const typed = all.map((item: unknown): unknown =>
      isRecord(item) ? { kind, apiVersion, ...item } : item,
    );
    if (!typed.every((item) => this.#isOfKind(item)))
      throw this.#unintelligible(`a list of other things than ${kind} objects`);
    for (const item of typed) this.#withoutNulls(item);
    return { kind: listKind, apiVersion, metadata: isRecord(metadata) ? metadata : {}, items: typed };
  }

  /** Throws a StatusError for an event of type ERROR. */
  parseEvent(line: string): WatchEvent<T> {
    const { type, object } = this.#parse(line);
    if (type === 'ERROR') throw fromStatus(isStatus(object) ? object : {}, 500);
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
      throw this.#unintelligible(`an event of an unknown type: ${this.#excerpt(line)}`);
    }
    if (this.#isOfKind(object)) return { type, object: this.#withoutNulls(object) };
    throw this.#unintelligible(`an event without a ${this.#kind.kind}: ${this.#excerpt(line)}`);
  }

  #parse(text: string): Record<string, unknown> {
    const value = tryParseRecord(text);
    if (value !== undefined) return value;
    throw this.#unintelligible(`what is no JSON object: ${this.#excerpt(text)}`);
  }

  #isOfKind(value: unknown): value is T {
    return isRecord(value) && value['kind'] === this.#kind.kind && isRecord(value['metadata'] ?? {});
  }

  #withoutNulls(object: T): T {
    replaceNulls(this.#kind.root, object);
    return object;
  }

  /** What is secret appears in no message. */
  #excerpt(text: string): string {
    return this.#kind.sensitive === true ? 'it may be secret, and is not shown' : excerpt(text);
  }

  #unintelligible(what: string): Error {
    return unintelligibleError(this.#server, what);
  }
}

const reasonsByCode = new Map<number, StatusReason>([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [409, 'Conflict'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

/** The error for a response that is not 2xx. If it is no Status, such as the page of a proxy, its code decides. */
export function toStatusError(server: string, answer: RawAnswer): StatusError {
  const { code, body, retryAfterSeconds } = answer;
  const parsed = tryParseRecord(body);
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (isStatus(parsed)) return fromStatus({ ...parsed, details: { ...retry, ...parsed.details } }, code);
  const suffix = body.trim() === '' ? '' : `: ${excerpt(body)}`;
  return new StatusError(reasonsByCode.get(code) ?? '', `${server} answered ${code}${suffix}`, {
    code,
    details: retry,
  });
}

function isStatus(value: unknown): value is Status {
  return isRecord(value) && value['kind'] === 'Status' && isRecord(value['details'] ?? {});
}

const maxExcerptLength = 200;

/** The beginning of a body, on one line. */
function excerpt(text: string): string {
  const line = text
    .slice(0, 4 * maxExcerptLength)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > maxExcerptLength ? `${line.slice(0, maxExcerptLength)}…` : line;
}
