import type { ApiClient, Place } from '../../client/index.ts';

/** What the heartbeats need of a client of the API; an ApiClient satisfies it. */
export type ApiCalls = Pick<ApiClient, 'get' | 'create' | 'replace'>;

export type CallOptions = Place & { subresource?: string };
