import { isCheckpointId } from '../../../api/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { StoredCheckpoint } from '../archive-folder.ts';
import { compareNewestFirst } from '../checkpoint-id.ts';

/** The checkpoints that a list request selects, and how many of them. */
interface Selection {
  matches(stored: StoredCheckpoint): boolean;
  readonly limit: number;
  /** The id of the last checkpoint of the previous page. */
  readonly after: string | undefined;
}

/** One page of the selected checkpoints. */
interface Page {
  readonly items: readonly StoredCheckpoint[];
  /** How many come after this page. */
  readonly remaining: number;
  /** The `continue` token for the next page; undefined when there is none. */
  readonly next: string | undefined;
}

const maxPageSize = 500;
const names = ['namespace', 'pod', 'container'] as const;

/**
 * Reads `namespace`, `pod`, `container`, `since`, `until` (RFC 3339, compared with the start of the dump), `pinned`,
 * `limit` and `continue`. A checkpoint without a sidecar has no names, so a selection by names leaves it out. Throws a
 * RefusedError (400) for an invalid value.
 */
export function readSelection(query: URLSearchParams): Selection {
  const wanted = names.flatMap((name) => {
    const value = readText(query, name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [sinceMs, untilMs] = [readTime(query, 'since'), readTime(query, 'until')];
  const pinned = readFlag(query, 'pinned');
  return {
    limit: readLimit(query),
    after: readContinue(query),
    matches(stored) {
      const { record, modifiedMs } = stored;
      if (!wanted.every(({ name, value }) => record?.[name] === value)) return false;
      if (pinned !== undefined && (record?.pinned ?? false) !== pinned) return false;
      const atMs = record === undefined ? modifiedMs : Date.parse(record.startedAt);
      return !(sinceMs !== undefined && atMs < sinceMs) && !(untilMs !== undefined && atMs > untilMs);
    },
  };
}

/** `all` is sorted, the newest first. The next page is found even if the last checkpoint of this one has been removed. */
export function selectPage(all: readonly StoredCheckpoint[], { matches, limit, after }: Selection): Page {
  const found = all.filter(matches);
  const rest =
    after === undefined ? found : found.filter(({ id }) => compareNewestFirst({ id: after }, { id }) < 0);
  const items = rest.slice(0, limit);
  const remaining = rest.length - items.length;
  const last = items.at(-1);
  const next = remaining > 0 && last ? Buffer.from(last.id).toString('base64url') : undefined;
  return { items, remaining, next };
}

/** The value of a flag in a query; undefined where it is not there. Throws a RefusedError (400) for any other text. */
export function readFlag(query: URLSearchParams, name: string): boolean | undefined {
  const value = readText(query, name);
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  throw createRefusal(name, 'true or false', value);
}

function readText(query: URLSearchParams, name: string): string | undefined {
  return query.getAll(name).at(-1) || undefined;
}

function readTime(query: URLSearchParams, name: string): number | undefined {
  const value = readText(query, name);
  if (value === undefined) return undefined;
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(atMs)) throw createRefusal(name, 'a time like 2025-01-31T12:00:00Z', value);
  return atMs;
}

function readLimit(query: URLSearchParams): number {
  const value = readText(query, 'limit');
  if (value === undefined || value === '0') return maxPageSize;
  if (!/^\d{1,9}$/.test(value)) throw createRefusal('limit', 'a whole number, 0 or more', value);
  return Math.min(Number(value) || maxPageSize, maxPageSize);
}

function readContinue(query: URLSearchParams): string | undefined {
  const value = readText(query, 'continue');
  if (value === undefined) return undefined;
  const id = Buffer.from(value, 'base64url').toString();
  if (isCheckpointId(id)) return id;
  throw createRefusal('continue', 'what a list has answered', value);
}

const createRefusal = (name: string, expected: string, value: string) =>
  new RefusedError(400, `${name} must be ${expected}, not ${JSON.stringify(value.slice(0, 50))}`);
