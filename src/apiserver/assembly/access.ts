import type { Clock, Logger } from '../../base/index.ts';
import { createAccessOperations, rbacName } from '../access-answers/index.ts';
import type { Authenticator, ServiceAccountTokens } from '../authn/index.ts';
import { serviceAccountTokens } from '../authn/index.ts';
import type { Authorizer, Rbac } from '../authz/index.ts';
import {
  createAuthorizerChain,
  createRbac,
  createSelfAccessAuthorizer,
  createSubjectRestriction,
  mastersAuthorizer,
  NodeAuthorizer,
  nodeRestriction,
  storedFacts,
  tokenRestriction,
} from '../authz/index.ts';
import type { DocumentRoute } from '../http/index.ts';
import type { ServiceAccountKey } from '../pki/index.ts';
import type { Admission, Operation, Registry } from '../registry/index.ts';
import { createReviewOperations, createTokenObjects } from '../reviews/index.ts';
import type { AuthenticationOptions } from './authentication.ts';
import { createAuthentication } from './authentication.ts';
import { bootstrapSecrets } from './bootstrap-secrets.ts';
import { issuerDocuments } from './issuer-documents.ts';

export interface AccessOptions {
  key: ServiceAccountKey;
  /** Default: certificates and tokens of service accounts alone. */
  authentication?: AuthenticationOptions | undefined;
  /** Asked last about what nobody before it has an opinion on. */
  webhook?: Authorizer | undefined;
  clock: Clock;
  log: Logger;
  groupSuffix: string;
  /** Asked for at the first token: the registry is made with the operations that are made here. */
  registry(): Registry;
}

/** Who callers are, what they may do, and the operations that answer about both. */
export interface Access {
  authenticator: Authenticator;
  authorizer: Authorizer;
  rbac: Rbac;
  /** Those of service accounts. */
  tokens: ServiceAccountTokens;
  /** Refuses writes by who asks. */
  admission: readonly Admission[];
  operations: readonly Operation[];
  /** What others check the tokens of service accounts with. */
  documents: readonly DocumentRoute[];
  /** Reads what decisions rest on; otherwise that happens at the first of them. */
  load(): void;
}

/** Throws an ExitError when something that it is given cannot be used. */
export async function createAccess(options: AccessOptions): Promise<Access> {
  const { key, authentication = {}, webhook, clock, log, groupSuffix, registry } = options;
  const tokens = serviceAccountTokens({ key, clock, objects: createTokenObjects(registry) });
  const rbac = createRbac(registry, groupSuffix);
  const facts = storedFacts(registry);
  const authorizers = [
    { name: 'system:masters', authorizer: mastersAuthorizer },
    { name: 'node authorizer', authorizer: new NodeAuthorizer(groupSuffix, facts) },
    { name: 'self reviews', authorizer: createSelfAccessAuthorizer(groupSuffix) },
    { name: rbacName, authorizer: rbac.authorizer },
    ...(webhook === undefined ? [] : [{ name: 'webhook', authorizer: webhook }]),
  ];
  const authorizer = createAuthorizerChain(authorizers.map((each) => each.authorizer));
  const secrets = bootstrapSecrets(registry);
  const known = await createAuthentication(authentication, { accounts: tokens, secrets, clock, log });
  return {
    authenticator: known.requests,
    authorizer,
    rbac,
    tokens,
    admission: [nodeRestriction(facts), rbac.admission, rbac.signers, createSubjectRestriction(groupSuffix)],
    operations: [
      ...createReviewOperations({
        authorizer,
        tokens,
        mayHaveToken: tokenRestriction(facts, authorizer),
        otherTokens: known.tokens,
        clock,
      }),
      ...createAccessOperations({ authorizers, rbac, groupSuffix }),
    ],
    documents: issuerDocuments(tokens),
    load() {
      rbac.load();
      facts.load();
    },
  };
}
