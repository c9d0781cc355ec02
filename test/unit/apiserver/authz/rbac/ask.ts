import type { PolicyRule, Subject } from '../../../../../src/api/index.ts';
import type { User } from '../../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/index.ts';
import { Policy } from './policy.ts';

export const jane: User = { name: 'jane', groups: ['devs', 'system:authenticated'], extra: {} };
export const toJane: Subject[] = [{ kind: 'User', name: 'jane' }];

/** A question about a resource: to get pods in namespace `team`, unless something else is said. */
export function to(asked: Partial<Extract<Attributes, { resource: string }>> = {}): Attributes {
  return {
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'team',
    name: '',
    ...asked,
  };
}

/** A rule: to get pods, unless something else is said. */
export function rule(more: Partial<PolicyRule> = {}): PolicyRule {
  return { verbs: ['get'], apiGroups: [''], resources: ['pods'], ...more };
}

/** What jane may do by one rule that she has everywhere. */
export function byRule(only: PolicyRule): Policy {
  const role = { kind: 'ClusterRole', name: 'r' };
  return new Policy().role('', 'r', [only]).bind('', 'b', role, toJane);
}

/** Whether a user may do it. */
export function may(policy: Policy, asked: Attributes, user: User = jane): boolean {
  return policy.authorizer.authorize(user, asked).verdict === 'allow';
}
