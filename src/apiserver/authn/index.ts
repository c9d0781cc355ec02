export { anonymousAuthenticator } from './anonymous.ts';
export {
  type Authenticator,
  authenticatorChain,
  type Credentials,
  type Identity,
} from './authenticator.ts';
export {
  bearerAuthenticator,
  bearerToken,
  serviceAccountAuthenticator,
  type TokenAuthenticator,
  tokenAuthenticatorChain,
} from './bearer.ts';
export {
  areNodeNames,
  type BootstrapToken,
  bootstrapNamespace,
  bootstrapNodeNames,
  bootstrappersGroup,
  bootstrapSecretPrefix,
  bootstrapSecretType,
  bootstrapTokenParts,
  isBootstrapGroup,
  readBootstrapSecret,
} from './bootstrap-secret.ts';
export { type BootstrapSecrets, bootstrapAuthenticator } from './bootstrap-tokens.ts';
export { certificateAuthenticator } from './certificate.ts';
export { type OidcOptions, oidcAuthenticator, signingAlgs } from './oidc/index.ts';
export {
  accountNameAnnotation,
  accountUidAnnotation,
  invalidSinceLabel,
  type SecretTokenClaims,
  secretTokenType,
} from './secret-tokens.ts';
export {
  serviceAccountGroups,
  serviceAccountOf,
  serviceAccountsGroup,
  serviceAccountUser,
  serviceAccountUserName,
} from './service-account.ts';
export {
  type ServiceAccountTokens,
  serviceAccountTokens,
} from './service-account-tokens.ts';
export type { TokenClaims } from './token-claims.ts';
export type { TokenObject, TokenObjectKind, TokenObjects } from './token-faults.ts';
export { readTokenFile, tokenFileAuthenticator } from './token-file.ts';
export {
  anonymousName,
  authenticatedGroup,
  controlPlaneUser,
  mastersGroup,
  nodesGroup,
  type User,
  unauthenticatedGroup,
} from './user.ts';
