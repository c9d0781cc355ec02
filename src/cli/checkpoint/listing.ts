import type { ApiClient } from '../../client/index.ts';
import { requestAgent, toRecords } from '../agent-client/response.ts';

const filterNames = ['namespace', 'pod', 'container', 'since', 'until', 'pinned'] as const;

/** Which checkpoints are listed; `limit`: at most so many. */
export type ListFilters = Partial<
  Record<(typeof filterNames)[number], string | boolean | undefined> & { limit: number }
>;

/** Reads all pages and returns them as one list, the newest first. */
export async function listCheckpoints(
  client: ApiClient,
  filters: ListFilters,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { limit = Infinity } = filters;
  const items: unknown[] = [];
  let next: unknown;
  for (;;) {
    const query = queryOf(filters, limit - items.length, next);
    const page = await requestAgent(client, { method: 'GET', path: `/checkpoints${query}`, signal });
    items.push(...toRecords(page['items']));
    next = Object(page['metadata'])['continue'];
    if (typeof next !== 'string' || items.length >= limit) return { ...page, items };
  }
}

function queryOf(filters: ListFilters, limit: number, next: unknown): string {
  const query = new URLSearchParams();
  for (const name of filterNames) if (filters[name] !== undefined) query.set(name, String(filters[name]));
  if (Number.isFinite(limit)) query.set('limit', String(limit));
  if (typeof next === 'string') query.set('continue', next);
  return query.size === 0 ? '' : `?${query}`;
}
