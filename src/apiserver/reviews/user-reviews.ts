import type { SelfSubjectReview, TokenReview, UserInfo } from '../../api/index.ts';
import { StatusError, selfSubjectReviewKind, tokenReviewKind } from '../../api/index.ts';
import type { ServiceAccountTokens, TokenAuthenticator, User } from '../authn/index.ts';
import type { Operation } from '../registry/index.ts';
import { withoutStatus } from './question.ts';

/** SelfSubjectReview: who is the caller? */
export function selfSubjectReview(): Operation<SelfSubjectReview> {
  return {
    body: selfSubjectReviewKind,
    prepare: ({ body }) => withoutStatus(body),
    async run({ body, context }) {
      const status = { userInfo: userInfoOf(context.user) };
      return { object: { ...body, metadata: body.metadata ?? {}, status } };
    },
  };
}

/** TokenReview: whose token is this, and is it for one of these audiences? */
export function tokenReview(
  tokens: ServiceAccountTokens,
  otherTokens: TokenAuthenticator,
): Operation<TokenReview> {
  /** Tokens that are not those of service accounts are for this server, and so for its audiences. */
  async function identifyOther(token: string, wanted: readonly string[]) {
    const identity = await otherTokens.identify(token);
    const audiences = wanted.filter((audience) => tokens.audiences.includes(audience));
    return identity && audiences.length > 0 ? { user: identity.user, audiences } : undefined;
  }

  return {
    body: tokenReviewKind,
    prepare: ({ body }) => withoutStatus(body),
    async run({ body }) {
      const { token, audiences = [] } = body.spec;
      if (!token) throw new StatusError('BadRequest', 'token is required for TokenReview in authentication');
      const wanted = audiences.length > 0 ? audiences : tokens.audiences;
      const own = await tokens.check(token, wanted);
      const verdict = 'fault' in own ? ((await identifyOther(token, wanted)) ?? own) : own;
      const status =
        'fault' in verdict
          ? { authenticated: false, error: verdict.fault }
          : { authenticated: true, user: userInfoOf(verdict.user), audiences: verdict.audiences };
      const object = { ...body, metadata: body.metadata ?? {}, status };
      return { object };
    },
  };
}

function userInfoOf({ name, uid, groups, extra }: User): UserInfo {
  const more = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(more.length === 0 ? {} : { extra: Object.fromEntries(more) }),
  };
}
