import type { Authorizer, Decision } from '../types.ts';
import { noOpinion } from '../types.ts';
import { listFaults } from './faults.ts';
import type { Grant } from './grant.ts';
import type { PolicyIndex } from './policy-index.ts';
import { questionOf } from './question.ts';
import { listRules } from './rule-list.ts';

/** An authorizer that decides synchronously. */
export interface RbacAuthorizer extends Authorizer {
  authorize(...asked: Parameters<Authorizer['authorize']>): Decision;
}

/**
 * Allows what roles and bindings grant (specification, sections 2.3 and 5), and has no opinion on anything else. `group` is
 * the API group of roles with its suffix. Faults in the bindings of the caller are reported as errors of every decision;
 * without an opinion, they are its reason too.
 */
export function rbacAuthorizer(index: () => PolicyIndex, group: string): RbacAuthorizer {
  return {
    authorize(user, attributes) {
      const policy = index();
      const namespace = 'path' in attributes ? '' : attributes.namespace;
      const grant = policy.find(user, namespace, questionOf(attributes));
      const errors = listFaults(policy, user, namespace, group);
      if (grant !== undefined) return new Allowed(grant, errors);
      return errors.length === 0
        ? noOpinion
        : { ...noOpinion, reason: `RBAC: ${joinErrors(errors)}`, errors };
    },
    rules: (user, namespace) => listRules(index(), user, namespace, group),
  };
}

/** Formats the reason only when it is read: most callers do not need it. */
class Allowed implements Decision {
  readonly verdict = 'allow';
  readonly errors: readonly string[];
  readonly #grant: Grant;

  constructor(grant: Grant, errors: readonly string[]) {
    this.#grant = grant;
    this.errors = errors;
  }

  get reason(): string {
    return this.#grant.reason;
  }
}

function joinErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}
