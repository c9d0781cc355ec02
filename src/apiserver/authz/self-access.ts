import { groupName } from '../../api/index.ts';
import { authenticatedGroup } from '../authn/index.ts';
import type { Authorizer } from './types.ts';
import { allow, noOpinion, noRules } from './types.ts';

/** Authenticated users may ask who they are and what they may do (specification, sections 2.2 and 5). */
export function createSelfAccessAuthorizer(groupSuffix: string): Authorizer {
  const open = [
    {
      verbs: ['create'],
      apiGroups: [groupName('authorization', groupSuffix)],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    {
      verbs: ['create'],
      apiGroups: [groupName('authentication', groupSuffix)],
      resources: ['selfsubjectreviews'],
    },
  ];
  return {
    authorize(user, attributes) {
      if (!user.groups.includes(authenticatedGroup) || !('resource' in attributes)) return noOpinion;
      const { verb, group, resource, subresource } = attributes;
      if (verb !== 'create' || subresource !== '') return noOpinion;
      const isOpen = open.some((rule) => rule.apiGroups.includes(group) && rule.resources.includes(resource));
      return isOpen ? allow('everybody may ask about themselves') : noOpinion;
    },
    rules: (user) =>
      user.groups.includes(authenticatedGroup) ? { ...noRules, resourceRules: open } : noRules,
  };
}
