/** Who this node is towards the API and towards those who call it. */
export type { Identity, ServingCredentials } from './credentials.ts';
export { embeddedIdentity } from './embedded.ts';
export { watchExpiry } from './expiry.ts';
export { joinedIdentity } from './joined.ts';
export { kubeconfigFollower } from './kubeconfig-follower.ts';
export { type NodeApi, nodeApi } from './node-api.ts';
export { type RemoteIdentityOptions, remoteIdentity } from './remote.ts';
export { withoutRequestNames } from './signing-request.ts';
export { standaloneIdentity } from './standalone.ts';
