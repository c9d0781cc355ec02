/** Who this node is towards the API and towards those who call it. */
export type { Identity, ServingCredentials } from './credentials.ts';
export { type EmbeddedIdentityOptions, embeddedIdentity } from './embedded.ts';
export { type ExpiryOptions, type ExpiryWatch, watchExpiry } from './expiry.ts';
export { type JoinedIdentityOptions, joinedIdentity } from './joined.ts';
export { type FollowerOptions, kubeconfigFollower } from './kubeconfig-follower.ts';
export { type NodeApi, nodeApi } from './node-api.ts';
export { type RemoteIdentityOptions, remoteIdentity } from './remote.ts';
export { type StandaloneIdentityOptions, standaloneIdentity } from './standalone.ts';
