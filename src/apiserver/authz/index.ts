export { authorizerChain, mastersAuthorizer } from './chain.ts';
export { compactNonResourceRules, compactResourceRules } from './compact-rules.ts';
export {
  nodeAuthorizer,
  nodeLeaseNamespace,
  nodeNameOf,
  nodeRestriction,
  nodeRules,
  storedFacts,
  type TokenRestriction,
  tokenRestriction,
} from './node/index.ts';
export {
  type BindingPolicy,
  CompiledRules,
  createRbac,
  faultsOf,
  type Grant,
  holderOf,
  PolicyIndex,
  type Question,
  questionOf,
  type Rbac,
  type RbacAuthorizer,
  type RoleId,
  type RoleReader,
  rbacAuthorizer,
  storedRoles,
  uncovered,
} from './rbac/index.ts';
export { selfAccessAuthorizer } from './self-access.ts';
export { subjectRestriction } from './subject-restriction.ts';
export { type Attributes, type Authorizer, type Decision, noOpinion, type RuleList } from './types.ts';
export { openWebhook, type WebhookOptions } from './webhook/index.ts';
