import { mastersGroup } from '../authn/index.ts';
import { compactNonResourceRules, compactResourceRules } from './compact-rules.ts';
import type { Authorizer, Decision, RuleList } from './types.ts';
import { allow, noOpinion, noRules } from './types.ts';

/**
 * Asks the authorizers in order; the first that allows or denies decides. When none has an opinion, the decision has the
 * reasons of all. Returns without a promise as long as all authorizers that are asked do.
 */
export function createAuthorizerChain(authorizers: readonly Authorizer[]): Authorizer {
  function ask(
    position: number,
    before: Decision,
    ...asked: Parameters<Authorizer['authorize']>
  ): Decision | Promise<Decision> {
    const authorizer = authorizers[position];
    if (authorizer === undefined) return before;
    const next = (decision: Decision) => {
      const both = combineDecisions(before, decision);
      return decision.verdict === 'noOpinion' ? ask(position + 1, both, ...asked) : both;
    };
    const answer = authorizer.authorize(...asked);
    return answer instanceof Promise ? answer.then(next) : next(answer);
  }

  return {
    authorize: (user, attributes) => ask(0, noOpinion, user, attributes),
    async rules(user, namespace) {
      const lists: RuleList[] = [];
      for (const authorizer of authorizers) {
        lists.push((await authorizer.rules?.(user, namespace)) ?? unlistable);
      }
      return {
        resourceRules: compactResourceRules(lists.flatMap((list) => list.resourceRules)),
        nonResourceRules: compactNonResourceRules(lists.flatMap((list) => list.nonResourceRules)),
        incomplete: lists.some((list) => list.incomplete),
        errors: [...new Set(lists.flatMap((list) => list.errors))],
      };
    },
  };
}

/** Adds the errors, and without an opinion the reasons, of the authorizers before. */
function combineDecisions(before: Decision, decision: Decision): Decision {
  if (before.errors.length === 0 && before.reason === '') return decision;
  const { verdict, reason } = decision;
  const errors = [...before.errors, ...decision.errors];
  if (verdict !== 'noOpinion') return { verdict, reason, errors };
  return { verdict, reason: [before.reason, reason].filter((text) => text !== '').join('\n'), errors };
}

const unlistable: RuleList = {
  ...noRules,
  incomplete: true,
  errors: ['an authorizer cannot list its rules'],
};

/** Members of `system:masters` may do everything. */
export const mastersAuthorizer: Authorizer = {
  authorize: (user) => (user.groups.includes(mastersGroup) ? allow(`member of ${mastersGroup}`) : noOpinion),
  rules: (user) => (user.groups.includes(mastersGroup) ? everything : noRules),
};

const everything: RuleList = {
  ...noRules,
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
