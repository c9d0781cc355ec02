export { NodeAuthorizer } from './authorizer.ts';
export { storedFacts } from './facts.ts';
export { nodeLeaseNamespace, nodeNameOf } from './node-name.ts';
export { nodeRestriction } from './restriction.ts';
export { listNodeRules } from './rules.ts';
export { type TokenRestriction, tokenRestriction } from './token-restriction.ts';
