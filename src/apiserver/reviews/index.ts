import type { Clock } from '../../base/index.ts';
import type { ServiceAccountTokens, TokenAuthenticator } from '../authn/index.ts';
import type { Authorizer, TokenRestriction } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { localSubjectAccessReview, selfSubjectAccessReview, subjectAccessReview } from './access-reviews.ts';
import { selfSubjectRulesReview } from './rules-review.ts';
import { serviceAccountToken } from './token-request.ts';
import { selfSubjectReview, tokenReview } from './user-reviews.ts';

export { type Action, attributesOf, prepared, userIn } from './access-reviews.ts';
export { questionIn } from './question.ts';
export { refuseTwofoldSelectors, withoutSelectors } from './selectors.ts';
export { tokenObjects } from './token-objects.ts';

export interface ReviewOptions {
  authorizer: Authorizer;
  tokens: ServiceAccountTokens;
  /** Throws for whoever may not have a token that they ask for. */
  mayHaveToken: TokenRestriction;
  /** Whose tokens else are taken. */
  otherTokens: TokenAuthenticator;
  clock: Clock;
}

/** The operations that answer who somebody is and what they may do (specification, section 4.1), and make tokens. */
export function reviewOperations(options: ReviewOptions): Operation[] {
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
