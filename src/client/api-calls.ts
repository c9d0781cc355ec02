import type { AwaitedCall } from '../base/index.ts';
import type { ApiClient } from './api-client.ts';
import type { PatchForm, Place } from './options.ts';

/** What the heartbeats need of a client of the API; an ApiClient satisfies it. */
export type ApiCalls = Pick<ApiClient, 'get' | 'create' | 'replace' | 'patch'> & {
  /** What is waited for while there are no credentials, so that nothing is sent; undefined when there are. */
  missingCredentials?(): string | undefined;
};

/** Who does not answer when a call takes too long, in words for the log. */
export function whoAnswers(api: ApiCalls, call: string): AwaitedCall {
  if (api.missingCredentials?.() === undefined) return `the API server (${call})`;
  return () => `this node has no client certificate yet: ${api.missingCredentials?.() ?? 'it has just come'}`;
}

export type CallOptions = Place & { subresource?: string };

export type PatchOptions = CallOptions & { as: PatchForm };
