export { type RbacAuthorizer, rbacAuthorizer } from './authorizer.ts';
export { CompiledRules } from './compiled-rules.ts';
export { faultsOf } from './faults.ts';
export type { Grant } from './grant.ts';
export { type BindingPolicy, PolicyIndex } from './policy-index.ts';
export { type Question, questionOf } from './question.ts';
export { createRbac, type Rbac } from './rbac.ts';
export type { RoleId, RoleReader } from './role-entry.ts';
export { uncovered } from './uncovered.ts';
