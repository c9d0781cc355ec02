export { type Authenticator, certificateAuthenticator, type Identity } from './certificate.ts';
export { authenticatedGroup, controlPlaneUser, mastersGroup, nodesGroup, type User } from './user.ts';
