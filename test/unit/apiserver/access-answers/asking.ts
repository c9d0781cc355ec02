import type { AccessExplanationStatus, AccessQueryStatus } from '../../../../src/api/index.ts';
import { explain } from '../../../../src/apiserver/access-answers/explain.ts';
import { listWhatCan } from '../../../../src/apiserver/access-answers/what-can.ts';
import { listWhoCan } from '../../../../src/apiserver/access-answers/who-can.ts';
import type { User } from '../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../src/apiserver/authz/index.ts';
import {
  createSelfAccessAuthorizer,
  mastersAuthorizer,
  NodeAuthorizer,
} from '../../../../src/apiserver/authz/index.ts';
import { jane, to } from '../authz/rbac/ask.ts';
import type { Policy } from '../authz/rbac/policy.ts';
import { group } from '../authz/rbac/policy.ts';

/** What answers are made of, with RBAC by a policy in memory. */
export function partsOf(policy: Policy) {
  const authorizers = [
    { name: 'system:masters', authorizer: mastersAuthorizer },
    { name: 'node authorizer', authorizer: new NodeAuthorizer('k8s.io') },
    { name: 'self reviews', authorizer: createSelfAccessAuthorizer('k8s.io') },
    { name: 'RBAC', authorizer: policy.authorizer },
  ];
  return { authorizers, index: policy.index, group };
}

/** Why jane may or may not get pods in namespace `team`, unless something else is said. */
export function why(
  policy: Policy,
  asked: Attributes = to(),
  user: User = jane,
): Promise<AccessExplanationStatus> {
  return explain(partsOf(policy), user, asked);
}

export function who(policy: Policy, asked: Attributes = to()): Promise<AccessQueryStatus> {
  return listWhoCan(partsOf(policy), asked);
}

export function what(policy: Policy, user: User = jane, namespace = ''): Promise<AccessQueryStatus> {
  return listWhatCan(partsOf(policy), user, namespace);
}

export function called(name: string, ...groups: string[]): User {
  return { name, groups: [...groups, 'system:authenticated'], extra: {} };
}
