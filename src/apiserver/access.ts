import type { Clock } from '../base/index.ts';
import type { Authenticator } from './authn/index.ts';
import {
  authenticatorChain,
  bearerAuthenticator,
  certificateAuthenticator,
  serviceAccountTokens,
} from './authn/index.ts';
import type { Authorizer } from './authz/index.ts';
import {
  authorizerChain,
  discoveryAuthorizer,
  mastersAuthorizer,
  nodeAuthorizer,
  selfAccessAuthorizer,
} from './authz/index.ts';
import type { ServiceAccountKey } from './pki/index.ts';
import type { Operation, Registry } from './registry/index.ts';
import { reviewOperations, tokenObjects } from './reviews/index.ts';

export interface AccessOptions {
  key: ServiceAccountKey;
  clock: Clock;
  groupSuffix: string;
  /** Asked for at the first token: the registry is made with the operations that are made here. */
  registry(): Registry;
}

/** Who callers are, what they may do, and the operations that answer about both. */
export interface Access {
  authenticator: Authenticator;
  authorizer: Authorizer;
  operations: readonly Operation[];
}

export function createAccess({ key, clock, groupSuffix, registry }: AccessOptions): Access {
  const tokens = serviceAccountTokens({ key, clock, objects: tokenObjects(registry) });
  const authorizer = authorizerChain([
    mastersAuthorizer,
    nodeAuthorizer(groupSuffix),
    selfAccessAuthorizer(groupSuffix),
    discoveryAuthorizer,
  ]);
  return {
    authenticator: authenticatorChain([
      certificateAuthenticator(() => clock.now()),
      bearerAuthenticator(tokens),
    ]),
    authorizer,
    operations: reviewOperations({ authorizer, tokens, clock }),
  };
}
