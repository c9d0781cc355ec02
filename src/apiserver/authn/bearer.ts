import type { Authenticator, Identity } from './authenticator.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

/** The token in a header `Authorization: Bearer TOKEN` (RFC 6750, section 2.1); undefined where there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Identifies the owner of a token; undefined for an unknown token. */
export interface TokenAuthenticator {
  identify(token: string): Identity | undefined | Promise<Identity | undefined>;
}

/** Asks the authenticators in order; the first that identifies an owner decides. */
export function tokenAuthenticatorChain(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    async identify(token) {
      for (const authenticator of authenticators) {
        const identity = await authenticator.identify(token);
        if (identity !== undefined) return identity;
      }
      return undefined;
    },
  };
}

/** Identifies callers with a known token. */
export function bearerAuthenticator(tokens: TokenAuthenticator): Authenticator {
  return { authenticate: ({ token }) => (token === undefined ? undefined : tokens.identify(token)) };
}

/** As in the reference. */
const staleAnnotation = 'authentication.k8s.io/stale-token';

/** Tokens of service accounts that are for this server. */
export function serviceAccountAuthenticator(tokens: ServiceAccountTokens): TokenAuthenticator {
  return {
    async identify(token) {
      const verdict = await tokens.check(token, tokens.audiences);
      if ('fault' in verdict) return undefined;
      const { user, untilMs, stale } = verdict;
      return { user, untilMs, ...(stale === undefined ? {} : { annotations: { [staleAnnotation]: stale } }) };
    },
  };
}
