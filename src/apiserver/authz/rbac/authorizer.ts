import type { Authorizer, Decision } from '../types.ts';
import { noOpinion } from '../types.ts';
import { faultsOf } from './faults.ts';
import type { Grant } from './grant.ts';
import type { PolicyIndex } from './policy-index.ts';
import { questionOf } from './question.ts';
import { rulesOf } from './rule-list.ts';

/** An authorizer that answers at once. */
export interface RbacAuthorizer extends Authorizer {
  authorize(...asked: Parameters<Authorizer['authorize']>): Decision;
}

/**
 * Allows what roles allow and bindings give (specification, sections 2.3 and 5), and has no opinion on anything else.
 * `group` is the API group of roles with its suffix. What is wrong with the bindings of whoever asks is reported
 * whatever the decision is; when it is none, as its reason too.
 */
export function rbacAuthorizer(index: () => PolicyIndex, group: string): RbacAuthorizer {
  return {
    authorize(user, attributes) {
      const policy = index();
      const namespace = 'path' in attributes ? '' : attributes.namespace;
      const grant = policy.find(user, namespace, questionOf(attributes));
      const errors = faultsOf(policy, user, namespace, group);
      if (grant !== undefined) return new Allowed(grant, errors);
      return errors.length === 0 ? noOpinion : { ...noOpinion, reason: `RBAC: ${joined(errors)}`, errors };
    },
    rules: (user, namespace) => rulesOf(index(), user, namespace, group),
  };
}

/** Most of those who ask do not look at the reason: it is made when somebody does. */
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

function joined(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}
