export { authorizerChain, mastersAuthorizer } from './chain.ts';
export { compactNonResourceRules, compactResourceRules } from './compact-rules.ts';
export { nodeAuthorizer, nodeLeaseNamespace, nodeNameOf, nodeRestriction } from './node.ts';
export {
  CompiledRules,
  createRbac,
  faultsOf,
  type Grant,
  PolicyIndex,
  type Question,
  questionOf,
  type Rbac,
  type RbacAuthorizer,
  type RoleId,
  rbacAuthorizer,
  uncovered,
} from './rbac/index.ts';
export { selfAccessAuthorizer } from './self-access.ts';
export { type Attributes, type Authorizer, type Decision, noOpinion, type RuleList } from './types.ts';
export { openWebhook, type WebhookOptions } from './webhook/index.ts';
