export {
  type Authenticator,
  authenticatorChain,
  type Credentials,
  type Identity,
} from './authenticator.ts';
export { bearerAuthenticator, bearerToken } from './bearer.ts';
export { certificateAuthenticator } from './certificate.ts';
export { serviceAccountsGroup, serviceAccountUser, serviceAccountUserName } from './service-account.ts';
export {
  type ServiceAccountTokens,
  serviceAccountTokens,
  type TokenObject,
  type TokenObjectKind,
  type TokenObjects,
} from './service-account-tokens.ts';
export type { TokenClaims } from './token-claims.ts';
export { authenticatedGroup, controlPlaneUser, mastersGroup, nodesGroup, type User } from './user.ts';
