import type { User } from '../authn/index.ts';
import type { Attributes, Grant, PolicyIndex, Question } from '../authz/index.ts';
import { questionOf } from '../authz/index.ts';

/** What somebody wants to do, with the bindings that count for it. */
export interface Action {
  readonly attributes: Attributes;
  readonly question: Question;
  /** Whose bindings count: the cluster's (empty), and those of the namespace if there is one. */
  readonly scopes: readonly string[];
}

export function actionOf(attributes: Attributes): Action {
  const namespace = 'path' in attributes ? '' : attributes.namespace;
  return {
    attributes,
    question: questionOf(attributes),
    scopes: namespace === '' ? [''] : ['', namespace],
  };
}

/** By which a user may do it. */
export function* allowingGrants(index: PolicyIndex, user: User, action: Action): Generator<Grant> {
  for (const scope of action.scopes) {
    for (const grant of index.grantsIn(scope, user)) {
      if (action.question.isAllowedBy(grant.role.rules)) yield grant;
    }
  }
}
