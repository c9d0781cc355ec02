import type { Clock } from '../../base/index.ts';
import type { ServiceAccountKey, TokenKey } from '../pki/index.ts';
import { isHarmlessToken } from './harmless-token.ts';
import type { SecretTokenClaims } from './secret-tokens.ts';
import { readSecretTokenPayload, secretTokenIssuer, secretTokenPayload } from './secret-tokens.ts';
import { serviceAccountUser } from './service-account.ts';
import { TokenCache } from './token-cache.ts';
import type { TokenClaims } from './token-claims.ts';
import { extraOf, payloadOf, readPayload } from './token-claims.ts';
import type { Claims, TokenObjects } from './token-faults.ts';
import { faultFinder } from './token-faults.ts';
import type { User } from './user.ts';

/** What is found out about a token; a fault says nothing that the token itself holds. */
export type TokenVerdict =
  | {
      user: User;
      /** Those that were asked for and that the token is for; never empty. */
      audiences: readonly string[];
      /** When the token ends: wall clock, milliseconds. */
      untilMs: number;
      /** Whose it is, and for how long its program should have had another one, for the audit log; undefined where that is not so. */
      stale?: string;
    }
  | { fault: string };

/** Makes and checks the tokens of service accounts (RFC 7519). */
export interface ServiceAccountTokens {
  /** Whom a token is for that is for this server. */
  readonly audiences: readonly string[];
  /** Who signs them: the claim `iss`. */
  readonly issuer: string;
  /** What they can be checked with, by others too; the first is the one that signs. */
  readonly keys: readonly TokenKey[];
  issue(claims: TokenClaims): Promise<string>;
  /** A token to be kept in a Secret; it has no end. */
  issueForSecret(claims: SecretTokenClaims): Promise<string>;
  /** Whose token it is, if it is good now for one of the audiences, and all it is bound to still exists. */
  check(token: string, audiences: readonly string[]): Promise<TokenVerdict>;
}

export interface TokenOptions {
  key: ServiceAccountKey;
  clock: Clock;
  objects: TokenObjects;
}

/** Who signs, and at once whom a token is for unless it says otherwise: the name of the API within a cluster. */
const issuer = 'https://kubernetes.default.svc.cluster.local';

/**
 * A request's head has 16 KiB; this leaves a quarter of it to other headers. Tokens of ours are shorter: TokenRequest
 * bounds the audiences, and all else in a token are names and UIDs.
 */
const maxTokenLength = 12 * 1024;
/** Claims take about as much memory as their token. */
const known = { maxEntries: 4096, maxBytes: 8 * 1024 * 1024 };
/** How far the clocks of servers may differ that share a key. */
const clockToleranceSeconds = 10;

export function serviceAccountTokens({ key, clock, objects }: TokenOptions): ServiceAccountTokens {
  const cache = new TokenCache<Claims>(known);
  const keys: readonly TokenKey[] = [key, ...key.previous];
  const faultOf = faultFinder({ clock, objects });

  /** The key that a token says it is signed with, if it is signed in that key's way; else one that fits nothing. */
  function keyFor({ kid, alg }: { kid?: string | undefined; alg?: string | undefined }) {
    const named = kid === undefined ? key : keys.find(({ id }) => id === kid);
    if (named === undefined || named.algorithm !== alg) throw new UnknownKeyError();
    return named.publicKey;
  }

  /** The claims of a token with a good signature; undefined for everything else. */
  async function verify(token: string): Promise<Claims | undefined> {
    const { errors, jwtVerify } = await import('jose'); // most servers never see a token
    try {
      const { payload } = await jwtVerify(token, keyFor, {
        issuer: [issuer, secretTokenIssuer],
        currentDate: new Date(clock.now()),
        clockTolerance: clockToleranceSeconds,
      });
      return payload.iss === issuer ? readPayload(payload) : readSecretTokenPayload(payload);
    } catch (error) {
      const hasExpired = error instanceof errors.JWTExpired && error.payload.iss === issuer;
      if (hasExpired) return readPayload(error.payload); // said below
      if (error instanceof errors.JOSEError || error instanceof UnknownKeyError) return undefined;
      throw error;
    }
  }

  async function sign(payload: Record<string, unknown>): Promise<string> {
    const { SignJWT } = await import('jose');
    return await new SignJWT(payload)
      .setProtectedHeader({ alg: key.algorithm, kid: key.id })
      .sign(key.privateKey);
  }

  return {
    audiences: [issuer],
    issuer,
    keys,
    issue: (claims) => sign({ iss: issuer, ...payloadOf(claims) }),
    issueForSecret: (claims) => sign(secretTokenPayload(claims)),
    async check(token, audiences) {
      if (token.length > maxTokenLength || !isHarmlessToken(token)) return { fault: notValid };
      const claims = await cache.find(token, () => verify(token));
      if (claims === undefined) return { fault: notValid };
      let fault = faultOf(claims, token);
      if (fault !== undefined && objects.newest !== undefined) {
        await objects.newest(); // another server may just have made what the token speaks of
        fault = faultOf(claims, token);
      }
      if (fault !== undefined) {
        cache.forget(token);
        return { fault };
      }
      const { audiences: own, extra, untilMs } = gradeOf(claims);
      const meant = audiences.filter((audience) => own.includes(audience));
      if (meant.length === 0) return { fault: 'the token is for other audiences' };
      const user = serviceAccountUser({ namespace: claims.namespace, ...claims.account }, extra);
      const stale = describeStale(claims, user, clock.now());
      return { user, audiences: meant, untilMs, ...(stale === undefined ? {} : { stale }) };
    },
  };
}

/** For whom and until when a token is good, and what else is known of its user. */
function gradeOf(claims: Claims) {
  if ('heldBy' in claims) return { audiences: [issuer], extra: {}, untilMs: Number.POSITIVE_INFINITY };
  return { audiences: claims.audiences, extra: extraOf(claims), untilMs: claims.expiresAt * 1000 };
}

/** As the reference says it. */
function describeStale(claims: Claims, { name }: User, nowMs: number): string | undefined {
  const warnAfter = 'heldBy' in claims ? undefined : claims.warnAfter;
  const seconds = Math.floor(nowMs / 1000) - (warnAfter ?? Number.POSITIVE_INFINITY);
  return seconds <= 0 ? undefined : `subject: ${name}, seconds after warning threshold: ${seconds}`;
}

class UnknownKeyError extends Error {}

const notValid = 'the token is not valid';
