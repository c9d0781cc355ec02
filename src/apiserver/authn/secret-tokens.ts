import { serviceAccountUserName } from './service-account.ts';
import type { Named } from './token-claims.ts';

/*
 * Tokens that are kept in Secrets of the type `kubernetes.io/service-account-token`. They have no end and no audience of
 * their own: such a token is good as long as its Secret has it, and its account exists.
 */

/** Who signs them, as in the reference. */
export const secretTokenIssuer = 'kubernetes/serviceaccount';
export const secretTokenType = 'kubernetes.io/service-account-token';
/** The annotations of the Secret that name the account. */
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';
/** A label of the Secret: its token has been put out of use since that day. */
export const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';

/** What such a token says. */
export interface SecretTokenClaims {
  namespace: string;
  account: Named;
  /** The Secret that holds it. */
  heldBy: string;
}

const claim = (name: string) => `kubernetes.io/serviceaccount/${name}`;
const [namespaceClaim, secretClaim] = [claim('namespace'), claim('secret.name')];
const [nameClaim, uidClaim] = [claim('service-account.name'), claim('service-account.uid')];

/** Everything in the token, as the reference has it. */
export function secretTokenPayload({
  namespace,
  account,
  heldBy,
}: SecretTokenClaims): Record<string, unknown> {
  return {
    iss: secretTokenIssuer,
    [namespaceClaim]: namespace,
    [secretClaim]: heldBy,
    [nameClaim]: account.name,
    [uidClaim]: account.uid,
    sub: serviceAccountUserName(namespace, account.name),
  };
}

/** The claims in a token whose signature is good; undefined when it is none of a Secret. */
export function readSecretTokenPayload(
  payload: Readonly<Record<string, unknown>>,
): SecretTokenClaims | undefined {
  const text = (name: string) => {
    const value = payload[name];
    return typeof value === 'string' ? value : '';
  };
  const [namespace, heldBy, name, uid] = [namespaceClaim, secretClaim, nameClaim, uidClaim].map(text);
  if (!namespace || !heldBy || !name || !uid || payload['exp'] !== undefined) return undefined;
  if (payload['sub'] !== serviceAccountUserName(namespace, name)) return undefined;
  return { namespace, account: { name, uid }, heldBy };
}
