import { createHmac, randomBytes } from 'node:crypto';
import type { TokenReview } from '../../../api/index.ts';
import { tokenReviewKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { AnswerCache } from './answer-cache.ts';
import { withAuthenticated } from './groups.ts';
import type { ReviewMetrics } from './metrics.ts';
import { countResult } from './metrics.ts';
import type { Reviewer } from './review.ts';
import { describeReviewFailure } from './review.ts';
import type { Caller, Identified } from './types.ts';

export interface TokenOptions {
  review: Reviewer;
  /** Returns how long an answer is currently valid. */
  ttlMs(): number;
  metrics: ReviewMetrics;
  clock: Clock;
}

const maxTokens = 1024;
/** How many reviews may be under way at once, as unauthenticated callers can cause them. */
const maxPending = 64;
/** Short, as a token may become valid a moment later when its account has just been created. */
const refusedTtlMs = 10_000;

/**
 * Authenticates bearer tokens by the control plane's TokenReview. As in the reference no audience is requested: the control
 * plane accepts the tokens for itself. Answers are cached by a keyed digest; no token stays in memory.
 */
export function tokenAuthenticator(options: TokenOptions): (token: string) => Promise<Identified> {
  const { review, metrics, clock } = options;
  const digestKey = randomBytes(32);
  const known = new AnswerCache<Caller | undefined>({
    maxEntries: maxTokens,
    isGood: isKnown,
    maxPending,
    clock,
    onFind: (how) => metrics.found(how),
  });

  async function ask(token: string): Promise<Caller | undefined> {
    const question: TokenReview = { spec: { token } };
    const { status } = await review(tokenReviewKind, question);
    return callerOf(status);
  }

  return async (token) => {
    const digest = createHmac('sha256', digestKey).update(token).digest('base64');
    const ttlMs = (caller: Caller | undefined) =>
      caller === undefined ? Math.min(refusedTtlMs, options.ttlMs()) : options.ttlMs();
    try {
      return await known.find(digest, ttlMs, () => countResult(metrics, isKnown, () => ask(token)));
    } catch (error) {
      return {
        decision: 'unknown',
        message: `the bearer token cannot be reviewed: ${describeReviewFailure(error)}`,
      };
    }
  };
}

const isKnown = (caller: Caller | undefined): boolean => caller !== undefined;

function callerOf(status: TokenReview['status']): Caller | undefined {
  const { username = '', uid = '', groups = [], extra = {} } = status?.user ?? {};
  if (status?.authenticated !== true || username === '') return undefined;
  return { name: username, uid, groups: withAuthenticated(groups), extra };
}

const bearer = /^bearer +([^\s,]+) *$/i;

/** The token of the header `Authorization`; undefined where there is none. RFC 6750, section 2.1. */
export function parseBearerToken(authorization: string | undefined): string | undefined {
  return bearer.exec(authorization ?? '')?.[1];
}
