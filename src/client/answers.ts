import type { ApiObject, Kind, ListOf, Status, StatusReason } from '../api/index.ts';
import { apiVersionOf, fromStatus, isRecord, StatusError } from '../api/index.ts';
import { tryParseRecord } from '../base/index.ts';
import { unintelligible } from './errors.ts';
import type { WireAnswer } from './transport.ts';

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** Of a bookmark only metadata.resourceVersion means something. */
  object: T;
}

/** Reads what a server answers about one kind; throws a ConnectionError where that is no such thing. */
export interface AnswerReader<T extends ApiObject> {
  object(text: string): T;
  list(text: string): ListOf<T>;
  /** Throws a StatusError for an event of type ERROR. */
  event(line: string): WatchEvent<T>;
}

export function answerReader<T extends ApiObject>(
  server: string,
  kind: Kind<T>,
  groupSuffix: string,
): AnswerReader<T> {
  const apiVersion = apiVersionOf(kind, groupSuffix);
  const isOfKind = (value: unknown): value is T =>
    isRecord(value) && value['kind'] === kind.kind && isRecord(value['metadata'] ?? {});
  const parse = (text: string): Record<string, unknown> => {
    const value = tryParseRecord(text);
    if (value === undefined) throw unintelligible(server, `what is no JSON object: ${excerpt(text)}`);
    return value;
  };
  return {
    object(text) {
      const value: unknown = parse(text);
      if (isOfKind(value)) return value;
      throw unintelligible(server, `something else than a ${kind.kind}: ${excerpt(text)}`);
    },
    list(text) {
      const { kind: listKind, items, metadata } = parse(text);
      // a list of nothing is null in some servers
      const all: unknown = items ?? [];
      if (listKind !== `${kind.kind}List` || !Array.isArray(all) || !isRecord(metadata ?? {})) {
        throw unintelligible(server, `something else than a list of ${kind.resource}: ${excerpt(text)}`);
      }
      const typed = all.map((item: unknown): unknown =>
        isRecord(item) ? { kind: kind.kind, apiVersion, ...item } : item,
      );
      if (!typed.every(isOfKind))
        throw unintelligible(server, `a list of other things than ${kind.resource}`);
      return { kind: listKind, apiVersion, metadata: isRecord(metadata) ? metadata : {}, items: typed };
    },
    event(line) {
      const { type, object } = parse(line);
      if (type === 'ERROR') throw fromStatus(isStatus(object) ? object : {}, 500);
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
        throw unintelligible(server, `an event of an unknown type: ${excerpt(line)}`);
      }
      if (!isOfKind(object))
        throw unintelligible(server, `an event without a ${kind.kind}: ${excerpt(line)}`);
      return { type, object };
    },
  };
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

/** The error that an answer other than 2xx stands for; what is no Status (a proxy's page) is told by its code. */
export function refusal(server: string, answer: WireAnswer): StatusError {
  const { code, body, retryAfterSeconds } = answer;
  const parsed = tryParseRecord(body);
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (isStatus(parsed)) return fromStatus({ ...parsed, details: { ...retry, ...parsed.details } }, code);
  const told = body.trim() === '' ? '' : `: ${excerpt(body)}`;
  return new StatusError(reasonsByCode.get(code) ?? '', `${server} answered ${code}${told}`, {
    code,
    details: retry,
  });
}

function isStatus(value: unknown): value is Status {
  return isRecord(value) && value['kind'] === 'Status' && isRecord(value['details'] ?? {});
}

const excerptLimit = 200;

/** The beginning of something that a server sent, on one line. */
function excerpt(text: string): string {
  const line = text
    .slice(0, 4 * excerptLimit)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line.length > excerptLimit ? `${line.slice(0, excerptLimit)}…` : line;
}
