import { authenticatedGroup, mastersGroup } from '../authn/index.ts';
import type { Authorizer, Decision } from './types.ts';
import { allow, noOpinion } from './types.ts';

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
  };
}

/** Members of `system:masters` may do everything. */
export const mastersAuthorizer: Authorizer = {
  authorize: (user) => (user.groups.includes(mastersGroup) ? allow(`member of ${mastersGroup}`) : noOpinion),
};

const discoveryPaths = ['/api', '/apis', '/version', '/healthz', '/livez', '/readyz'];

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
};
