import { authenticatedGroup, mastersGroup } from '../authn/index.ts';
import type { Authorizer, Decision, RuleList } from './types.ts';
import { allow, noOpinion, noRules } from './types.ts';

/** Asks one after the other; the first that allows or denies decides. */
export function authorizerChain(authorizers: readonly Authorizer[]): Authorizer {
  return {
    async authorize(user, attributes) {
      const errors: string[] = [];
      for (const authorizer of authorizers) {
        const answer = authorizer.authorize(user, attributes);
        const decision: Decision = answer instanceof Promise ? await answer : answer;
        errors.push(...decision.errors);
        if (decision.verdict !== 'noOpinion') return { ...decision, errors };
      }
      return { ...noOpinion, errors };
    },
    async rules(user, namespace) {
      const lists: RuleList[] = [];
      for (const authorizer of authorizers) {
        lists.push((await authorizer.rules?.(user, namespace)) ?? unlistable);
      }
      return {
        resourceRules: lists.flatMap((list) => list.resourceRules),
        nonResourceRules: lists.flatMap((list) => list.nonResourceRules),
        incomplete: lists.some((list) => list.incomplete),
        errors: [...new Set(lists.flatMap((list) => list.errors))],
      };
    },
  };
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

const discoveryPaths = ['/api', '/apis', '/openapi', '/version', '/healthz', '/livez', '/readyz'];

/** Whoever is authenticated may ask what the server serves and how it is. */
export const discoveryAuthorizer: Authorizer = {
  authorize(user, attributes) {
    if (!('path' in attributes) || attributes.verb !== 'get') return noOpinion;
    if (!user.groups.includes(authenticatedGroup)) return noOpinion;
    const known = discoveryPaths.some(
      (path) => attributes.path === path || attributes.path.startsWith(`${path}/`),
    );
    return known ? allow('discovery') : noOpinion;
  },
  rules(user) {
    if (!user.groups.includes(authenticatedGroup)) return noRules;
    const nonResourceURLs = discoveryPaths.flatMap((path) => [path, `${path}/*`]);
    return { ...noRules, nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] };
  },
};
