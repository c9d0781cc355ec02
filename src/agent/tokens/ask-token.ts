import type { Pod, TokenRequest } from '../../api/index.ts';
import { StatusError, serviceAccountKind, tokenRequest } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { createBackoff, describeError, withDeadline } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ConnectionError, retryAfterMs } from '../../client/index.ts';
import type { TokenQuestion } from './types.ts';

/** What asking needs of a client of the API. */
export type TokenCalls = Pick<ApiClient, 'post'>;

/** A token that the API has given. */
export interface GivenToken {
  readonly token: string;
  /** From its issue to its end. */
  readonly lifeMs: number;
  /** When it ends, by the clock of the API: epoch milliseconds. */
  readonly expiresMs: number;
}

/** For all attempts together. */
const timeoutMs = 15_000;
const maxAttempts = 3;
const backoff = { initialMs: 200, maxMs: 2000, jitter: 0.2 };
/** Files and headers take no longer ones. */
const maxTokenLength = 64 * 1024;
/** Shorter ones would be asked for all the time. */
const minLifeMs = 60_000;

/**
 * Asks for a token of the pod's service account that ends with the pod. What was lost on its way is asked for again, for a
 * few seconds. Rejects with an Error whose message may be shown to users.
 */
export async function askToken(
  { api, clock }: { readonly api: TokenCalls; readonly clock: Clock },
  pod: Pod,
  question: TokenQuestion,
  signal: AbortSignal,
): Promise<GivenToken> {
  const limits = { clock, timeoutMs, signal };
  try {
    const answer = await withDeadline(limits, 'the API', (until) =>
      withRetries(() => post(api, pod, question, AbortSignal.any([until, signal])), clock, until),
    );
    return readAnswer(answer, question);
  } catch (error) {
    throw new Error(`failed to fetch token: ${describeError(error)}`, { cause: error });
  }
}

function post(
  api: TokenCalls,
  { metadata, spec }: Pod,
  { audience, expirationSeconds }: TokenQuestion,
  signal: AbortSignal,
): Promise<TokenRequest> {
  const { namespace = 'default', name = '', uid = '' } = metadata ?? {};
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid };
  const audiences = audience === '' ? [] : [audience];
  const account = spec?.serviceAccountName || 'default';
  const owner = { kind: serviceAccountKind, namespace, name: account, subresource: 'token' };
  return api.post(tokenRequest, { spec: { audiences, expirationSeconds, boundObjectRef } }, owner, {
    signal,
  });
}

async function withRetries<T>(call: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  const waits = createBackoff(backoff);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted || attempt === maxAttempts || !mayPass(error)) throw error;
      await clock.sleep(Math.max(waits.next(), Math.min(retryAfterMs(error), backoff.maxMs)), signal);
    }
  }
}

const passing: readonly string[] = [
  'ServerTimeout',
  'Timeout',
  'TooManyRequests',
  'ServiceUnavailable',
  'InternalError',
];

function mayPass(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof StatusError && passing.includes(error.reason));
}

function readAnswer({ spec, status }: TokenRequest, { expirationSeconds }: TokenQuestion): GivenToken {
  const { token = '', expirationTimestamp = '' } = status ?? {};
  const expiresMs = Date.parse(expirationTimestamp);
  // the API may give a shorter life than was asked for, and then says so
  const lifeMs = (spec.expirationSeconds ?? expirationSeconds) * 1000;
  if (token === '' || token.length > maxTokenLength || !Number.isFinite(expiresMs) || lifeMs < minLifeMs) {
    throw new Error('the API answered with what is no token, or lives for less than a minute');
  }
  return { token, lifeMs, expiresMs };
}
