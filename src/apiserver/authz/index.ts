export { authorizerChain, discoveryAuthorizer, mastersAuthorizer } from './chain.ts';
export { nodeAuthorizer, nodeLeaseNamespace, nodeNameOf, nodeRestriction } from './node.ts';
export { selfAccessAuthorizer } from './self-access.ts';
export { type Attributes, type Authorizer, type Decision, noOpinion, type RuleList } from './types.ts';
