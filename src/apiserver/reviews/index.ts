import type { Clock } from '../../base/index.ts';
import type { ServiceAccountTokens, TokenAuthenticator } from '../authn/index.ts';
import type { Authorizer, TokenRestriction } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { localSubjectAccessReview, selfSubjectAccessReview, subjectAccessReview } from './access-reviews.ts';
import { selfSubjectRulesReview } from './rules-review.ts';
import { serviceAccountToken } from './token-request.ts';
import { selfSubjectReview, tokenReview } from './user-reviews.ts';

export { attributesOf, prepareReview, toUser } from './access-reviews.ts';
export { withoutStatus } from './question.ts';
export { refuseTwofoldSelectors, withoutSelectors } from './selectors.ts';
export { createTokenObjects } from './token-bound-objects.ts';

export interface ReviewOptions {
  authorizer: Authorizer;
  tokens: ServiceAccountTokens;
  /** Rejects unless the caller may have the token that they request. */
  mayHaveToken: TokenRestriction;
  /** Identifies the tokens that are not those of service accounts. */
  otherTokens: TokenAuthenticator;
  clock: Clock;
}

/** The operations that return who a user is and what they may do (specification, section 4.1), and that issue tokens. */
export function createReviewOperations(options: ReviewOptions): Operation[] {
  const { authorizer, tokens, mayHaveToken, otherTokens, clock } = options;
  return [
    subjectAccessReview(authorizer),
    localSubjectAccessReview(authorizer),
    selfSubjectAccessReview(authorizer),
    selfSubjectRulesReview(authorizer),
    selfSubjectReview(),
    tokenReview(tokens, otherTokens),
    serviceAccountToken({ tokens, mayHaveToken, clock }),
  ];
}
