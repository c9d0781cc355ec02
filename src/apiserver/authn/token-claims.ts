import { isRecord } from '../../api/index.ts';
import { serviceAccountUserName } from './service-account.ts';
import type { User } from './user.ts';

/** An object that a token speaks of. */
export interface Named {
  name: string;
  uid: string;
}

/** What a token of a service account says, beside who signed it. Times are seconds since 1970. */
export interface TokenClaims {
  /** Names this token among all. */
  id: string;
  audiences: readonly string[];
  issuedAt: number;
  expiresAt: number;
  namespace: string;
  account: Named;
  /** An object with which the token ends. */
  pod?: Named | undefined;
  secret?: Named | undefined;
  /** Beside a pod: where that runs. Its uid may be unknown then. */
  node?: { name: string; uid?: string } | undefined;
  /** From then on a program that still uses it has missed that tokens are replaced. */
  warnAfter?: number | undefined;
}

/** Everything in the token but the issuer (RFC 7519, section 4), as the reference has it. */
export function payloadOf(claims: TokenClaims): Record<string, unknown> {
  const { id, audiences, issuedAt, expiresAt, namespace, account, pod, secret, node, warnAfter } = claims;
  return {
    aud: [...audiences],
    exp: expiresAt,
    iat: issuedAt,
    jti: id,
    'kubernetes.io': { namespace, node, pod, secret, serviceaccount: account, warnafter: warnAfter },
    nbf: issuedAt,
    sub: serviceAccountUserName(namespace, account.name),
  };
}

/** The claims in a token whose signature is good; undefined when it is no token of a service account. */
export function readPayload(payload: Readonly<Record<string, unknown>>): TokenClaims | undefined {
  const { aud, exp, iat, jti, sub, 'kubernetes.io': own } = payload;
  if (!isRecord(own)) return undefined;
  const { namespace, serviceaccount, warnafter } = own;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (!isTextList(audiences) || typeof exp !== 'number' || typeof iat !== 'number') return undefined;
  if (typeof namespace !== 'string' || !isNamed(serviceaccount)) return undefined;
  if (typeof jti !== 'string' || sub !== serviceAccountUserName(namespace, serviceaccount.name))
    return undefined;
  const bound = boundIn(own);
  if (bound === undefined) return undefined;
  const warnAfter = typeof warnafter === 'number' ? warnafter : undefined;
  const times = { issuedAt: iat, expiresAt: exp, warnAfter };
  return { id: jti, audiences, ...times, namespace, account: serviceaccount, ...bound };
}

type Bound = Pick<TokenClaims, 'pod' | 'secret' | 'node'>;

/** Undefined when what it is bound to cannot be read: it must not be taken for a token that is bound to nothing. */
function boundIn({ pod, secret, node }: Record<string, unknown>): Bound | undefined {
  if (pod !== undefined && !isNamed(pod)) return undefined;
  if (secret !== undefined && !isNamed(secret)) return undefined;
  if (node === undefined) return { pod, secret };
  if (!isRecord(node) || typeof node['name'] !== 'string') return undefined;
  const { name, uid } = node;
  if (typeof uid === 'string') return { pod, secret, node: { name, uid } };
  return uid === undefined && pod !== undefined ? { pod, secret, node: { name } } : undefined;
}

function isNamed(value: unknown): value is Named {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['uid'] === 'string';
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

const extraPrefix = 'authentication.kubernetes.io';

/** The parts of a token that authorizers and audit events contain about its user. */
export function extraOf({ id, pod, node }: TokenClaims): User['extra'] {
  const known: [string, string | undefined][] = [
    ['credential-id', `JTI=${id}`],
    ['pod-name', pod?.name],
    ['pod-uid', pod?.uid],
    ['node-name', node?.name],
    ['node-uid', node?.uid],
  ];
  return Object.fromEntries(
    known.flatMap(([name, value]) => (value === undefined ? [] : [[`${extraPrefix}/${name}`, [value]]])),
  );
}
