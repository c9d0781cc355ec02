import type { User } from '../authn/index.ts';
import type { Attributes, Grant, PolicyIndex, Question } from '../authz/index.ts';
import { questionOf } from '../authz/index.ts';

/** An action whose authorization is examined, with the scopes of the bindings that can allow it. */
export interface Action {
  readonly attributes: Attributes;
  readonly question: Question;
  /** The scopes of these bindings: the cluster (empty), and the namespace if there is one. */
  readonly scopes: readonly string[];
}

export function toAction(attributes: Attributes): Action {
  const namespace = 'path' in attributes ? '' : attributes.namespace;
  return {
    attributes,
    question: questionOf(attributes),
    scopes: namespace === '' ? [''] : ['', namespace],
  };
}

/** The grants that allow a user the action. */
export function* findAllowingGrants(index: PolicyIndex, user: User, action: Action): Generator<Grant> {
  for (const scope of action.scopes) {
    for (const grant of index.grantsIn(scope, user)) {
      if (action.question.isAllowedBy(grant.role.rules)) yield grant;
    }
  }
}
