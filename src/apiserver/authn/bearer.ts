import type { Authenticator } from './authenticator.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';

/** The token in a header `Authorization: Bearer TOKEN` (RFC 6750, section 2.1); undefined where there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Bearer tokens: those of service accounts that are for this server. */
export function bearerAuthenticator(tokens: ServiceAccountTokens): Authenticator {
  return {
    async authenticate({ token }) {
      if (token === undefined) return undefined;
      const verdict = await tokens.check(token, tokens.audiences);
      return 'fault' in verdict ? undefined : { user: verdict.user, untilMs: verdict.untilMs };
    },
  };
}
