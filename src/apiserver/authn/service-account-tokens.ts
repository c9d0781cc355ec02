import type { Clock } from '../../base/index.ts';
import type { ServiceAccountKey, TokenKey } from '../pki/index.ts';
import { isHarmlessToken } from './harmless-token.ts';
import { serviceAccountUser } from './service-account.ts';
import { TokenCache } from './token-cache.ts';
import type { Named, TokenClaims } from './token-claims.ts';
import { extraOf, payloadOf, readPayload } from './token-claims.ts';
import type { User } from './user.ts';

/** Where tokens find the objects that they speak of, as they are now. */
export interface TokenObjects {
  /**
   * Undefined when there is none of that name; `unreadable`: there is one, but nothing is known of it. `namespace` is of no
   * matter for a Node.
   */
  find(kind: TokenObjectKind, namespace: string, name: string): TokenObject | 'unreadable' | undefined;
  /** Comes to what was written up to now, where others write the same objects. Rejects when that cannot be had. */
  newest?(): Promise<void>;
}
export type TokenObjectKind = 'ServiceAccount' | 'Pod' | 'Secret' | 'Node';

export interface TokenObject {
  uid: string;
  /** From when on it is to be gone, though something may still hold it: wall clock, milliseconds. */
  goneMs: number | undefined;
}

/** What is found out about a token; a fault says nothing that the token itself holds. */
export type TokenVerdict =
  | {
      user: User;
      /** Those that were asked for and that the token is for; never empty. */
      audiences: readonly string[];
      /** When the token ends: wall clock, milliseconds. */
      untilMs: number;
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
/** How far the clocks of servers may differ that share a key; and how long a deleted object's tokens linger. */
const clockToleranceSeconds = 10;
const lingerMs = 60_000;

export function serviceAccountTokens({ key, clock, objects }: TokenOptions): ServiceAccountTokens {
  const cache = new TokenCache<TokenClaims>(known);
  const keys: readonly TokenKey[] = [key, ...key.previous];

  /** The key that a token says it is signed with, if it is signed in that key's way; else one that fits nothing. */
  function keyFor({ kid, alg }: { kid?: string | undefined; alg?: string | undefined }) {
    const named = kid === undefined ? key : keys.find(({ id }) => id === kid);
    if (named === undefined || named.algorithm !== alg) throw new UnknownKeyError();
    return named.publicKey;
  }

  /** The claims of a token with a good signature; undefined for everything else. */
  async function verify(token: string): Promise<TokenClaims | undefined> {
    const { errors, jwtVerify } = await import('jose'); // most servers never see a token
    try {
      const { payload } = await jwtVerify(token, keyFor, {
        issuer,
        currentDate: new Date(clock.now()),
        clockTolerance: clockToleranceSeconds,
      });
      return readPayload(payload);
    } catch (error) {
      if (error instanceof errors.JWTExpired) return readPayload(error.payload); // said below
      if (error instanceof errors.JOSEError || error instanceof UnknownKeyError) return undefined;
      throw error;
    }
  }

  /** What is wrong with good claims here and now. */
  function faultOf(claims: TokenClaims): string | undefined {
    const { namespace, account, pod, secret, node } = claims;
    const now = clock.now();
    const fault = (kind: TokenObjectKind, what: string, { name, uid = '' }: Partial<Named> = {}) => {
      const object = objects.find(kind, namespace, name ?? '');
      if (object === 'unreadable') return `the ${what} cannot be read in the store`;
      const lives = object?.uid === uid && (object.goneMs === undefined || now <= object.goneMs + lingerMs);
      return lives ? undefined : `the ${what} is gone`;
    };
    if (now >= claims.expiresAt * 1000) return 'the token has expired';
    const bound = 'that the token is bound to';
    return (
      fault('ServiceAccount', 'service account of the token', account) ??
      (pod && fault('Pod', `pod ${bound}`, pod)) ??
      (secret && fault('Secret', `secret ${bound}`, secret)) ??
      // beside a pod, the node only says where that runs
      (pod === undefined && node !== undefined ? fault('Node', `node ${bound}`, node) : undefined)
    );
  }

  return {
    audiences: [issuer],
    issuer,
    keys,
    async issue(claims) {
      const { SignJWT } = await import('jose');
      return await new SignJWT({ iss: issuer, ...payloadOf(claims) })
        .setProtectedHeader({ alg: key.algorithm, kid: key.id })
        .sign(key.privateKey);
    },
    async check(token, audiences) {
      if (token.length > maxTokenLength || !isHarmlessToken(token)) return { fault: notValid };
      const claims = await cache.find(token, () => verify(token));
      if (claims === undefined) return { fault: notValid };
      let fault = faultOf(claims);
      if (fault !== undefined && objects.newest !== undefined) {
        await objects.newest(); // another server may just have made what the token speaks of
        fault = faultOf(claims);
      }
      if (fault !== undefined) {
        cache.forget(token);
        return { fault };
      }
      const meant = audiences.filter((audience) => claims.audiences.includes(audience));
      if (meant.length === 0) return { fault: 'the token is for other audiences' };
      const user = serviceAccountUser({ namespace: claims.namespace, ...claims.account }, extraOf(claims));
      return { user, audiences: meant, untilMs: claims.expiresAt * 1000 };
    },
  };
}

class UnknownKeyError extends Error {}

const notValid = 'the token is not valid';
