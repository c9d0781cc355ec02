import type { ApiClient } from './api-client.ts';
import type { PatchForm, Place } from './options.ts';

/** What the heartbeats need of a client of the API; an ApiClient satisfies it. */
export type ApiCalls = Pick<ApiClient, 'get' | 'create' | 'replace' | 'patch'> & {
  /** Whether there are no credentials yet, so that nothing is sent. */
  isWithoutCredentials?(): boolean;
};

/** Who does not answer when a call takes too long, in words for the log. */
export function whoAnswers(api: ApiCalls, call: string): string {
  if (api.isWithoutCredentials?.()) return 'whoever is to sign the client certificate of this node';
  return `the API server (${call})`;
}

export type CallOptions = Place & { subresource?: string };

export type PatchOptions = CallOptions & { as: PatchForm };
