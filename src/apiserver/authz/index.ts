export { createAuthorizerChain, mastersAuthorizer } from './chain.ts';
export { compactNonResourceRules, compactResourceRules } from './compact-rules.ts';
export {
  listNodeRules,
  NodeAuthorizer,
  nodeLeaseNamespace,
  nodeNameOf,
  nodeRestriction,
  storedFacts,
  type TokenRestriction,
  tokenRestriction,
} from './node/index.ts';
export { namespaceInQuestion } from './own-namespace.ts';
export {
  type BindingPolicy,
  CompiledRules,
  createRbac,
  createRoleReader,
  findMissingRules,
  type Grant,
  holderOf,
  listFaults,
  PolicyIndex,
  type Question,
  questionOf,
  type Rbac,
  type RbacAuthorizer,
  type RoleId,
  type RoleReader,
  rbacAuthorizer,
} from './rbac/index.ts';
export { createSelfAccessAuthorizer } from './self-access.ts';
export { createSubjectRestriction } from './subject-restriction.ts';
export { type Attributes, type Authorizer, type Decision, noOpinion, type RuleList } from './types.ts';
export { openWebhook, type WebhookOptions } from './webhook/index.ts';
