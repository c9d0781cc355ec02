import type { ApiClient, PatchForm, Place } from '../../client/index.ts';

/** What the heartbeats need of a client of the API; an ApiClient satisfies it. */
export type ApiCalls = Pick<ApiClient, 'get' | 'create' | 'replace' | 'patch'>;

export type CallOptions = Place & { subresource?: string };

export type PatchOptions = CallOptions & { as: PatchForm };
