import { RefusedError } from '../../server/index.ts';
import type { StoredCheckpoint } from '../archive-folder.ts';
import { isCheckpointId, newestFirst } from '../archive-folder.ts';

/** Which checkpoints are asked for, and how many of them. */
export interface Selection {
  matches(stored: StoredCheckpoint): boolean;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after: string | undefined;
}

/** What is answered of a selection. */
export interface Page {
  readonly items: readonly StoredCheckpoint[];
  /** How many come after these. */
  readonly remaining: number;
  /** Leads to them; undefined when there are none. */
  readonly next: string | undefined;
}

const maxPageSize = 500;
const names = ['namespace', 'pod', 'container'] as const;

/**
 * `namespace`, `pod`, `container`, `since`, `until` (RFC 3339, of the beginning of the dump), `pinned`, `limit` and
 * `continue`. What has no sidecar has no names and is found only without them. Throws a RefusedError (400) for a value
 * that means nothing.
 */
export function readSelection(query: URLSearchParams): Selection {
  const wanted = names.flatMap((name) => {
    const value = textIn(query, name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [sinceMs, untilMs] = [timeOf(query, 'since'), timeOf(query, 'until')];
  const pinned = flagOf(query, 'pinned');
  return {
    limit: limitOf(query),
    after: afterOf(query),
    matches(stored) {
      const { record, modifiedMs } = stored;
      if (!wanted.every(({ name, value }) => record?.[name] === value)) return false;
      if (pinned !== undefined && (record?.pinned ?? false) !== pinned) return false;
      const atMs = record === undefined ? modifiedMs : Date.parse(record.startedAt);
      return !(sinceMs !== undefined && atMs < sinceMs) && !(untilMs !== undefined && atMs > untilMs);
    },
  };
}

/** `all`: the newest first. One that was removed meanwhile leads on all the same. */
export function pageOf(all: readonly StoredCheckpoint[], { matches, limit, after }: Selection): Page {
  const found = all.filter(matches);
  const rest = after === undefined ? found : found.filter(({ id }) => newestFirst({ id: after }, { id }) < 0);
  const items = rest.slice(0, limit);
  const remaining = rest.length - items.length;
  const last = items.at(-1);
  const next = remaining > 0 && last ? Buffer.from(last.id).toString('base64url') : undefined;
  return { items, remaining, next };
}

/** Of a flag in a query: `true`, `false`, or undefined where it is not there. */
export function flagOf(query: URLSearchParams, name: string): boolean | undefined {
  const value = textIn(query, name);
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw refused(name, 'true or false', value);
}

function textIn(query: URLSearchParams, name: string): string | undefined {
  return query.getAll(name).at(-1) || undefined;
}

function timeOf(query: URLSearchParams, name: string): number | undefined {
  const value = textIn(query, name);
  if (value === undefined) return undefined;
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(atMs)) throw refused(name, 'a time like 2025-01-31T12:00:00Z', value);
  return atMs;
}

function limitOf(query: URLSearchParams): number {
  const value = textIn(query, 'limit');
  if (value === undefined || value === '0') return maxPageSize;
  if (!/^\d{1,9}$/.test(value)) throw refused('limit', 'a whole number, 0 or more', value);
  return Math.min(Number(value) || maxPageSize, maxPageSize);
}

function afterOf(query: URLSearchParams): string | undefined {
  const value = textIn(query, 'continue');
  if (value === undefined) return undefined;
  const id = Buffer.from(value, 'base64url').toString();
  if (isCheckpointId(id)) return id;
  throw refused('continue', 'what a list has answered', value);
}

const refused = (name: string, expected: string, value: string) =>
  new RefusedError(400, `${name} must be ${expected}, not ${JSON.stringify(value.slice(0, 50))}`);
