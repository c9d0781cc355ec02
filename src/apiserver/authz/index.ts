export { authorizerChain, discoveryAuthorizer, mastersAuthorizer } from './chain.ts';
export { nodeAuthorizer, nodeLeaseNamespace, nodeNameOf, nodeRestriction } from './node.ts';
export { type Attributes, type Authorizer, type Decision, noOpinion } from './types.ts';
