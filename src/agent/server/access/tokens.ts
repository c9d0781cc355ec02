import { createHmac, randomBytes } from 'node:crypto';
import type { TokenReview } from '../../../api/index.ts';
import { tokenReviewKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ReviewFigures } from './figures.ts';
import { counted } from './figures.ts';
import { withAuthenticated } from './groups.ts';
import type { Reviewer } from './review.ts';
import { whyNoReview } from './review.ts';
import type { Caller, Identified } from './types.ts';

export interface TokenOptions {
  review: Reviewer;
  /** How long an answer counts, now. */
  ttlMs(): number;
  figures: ReviewFigures;
  clock: Clock;
}

const maxTokens = 1024;
/** Strangers can make the agent ask: so many at once, and no more. */
const maxPending = 64;
/** A token may be good a moment later: its account has just been made. */
const refusedTtlMs = 10_000;

/**
 * Whose a bearer token is, by the control plane's TokenReview. As in the reference none are asked for by audience: the
 * control plane takes the tokens that are for itself. What is kept is found by a keyed digest; no token stays in memory.
 */
export function tokenAuthenticator(options: TokenOptions): (token: string) => Promise<Identified> {
  const { review, figures, clock } = options;
  const digestKey = randomBytes(32);
  const known = new AnswerCache<Caller | undefined>({
    maxEntries: maxTokens,
    isGood: isKnown,
    maxPending,
    clock,
    onFind: (how) => figures.found(how),
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
      return await known.find(digest, ttlMs, () => counted(figures, isKnown, () => ask(token)));
    } catch (error) {
      return { decision: 'unknown', message: `the bearer token cannot be reviewed: ${whyNoReview(error)}` };
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
export function bearerToken(authorization: string | undefined): string | undefined {
  return bearer.exec(authorization ?? '')?.[1];
}
