import type { Caller } from './types.ts';

const authenticatedGroup = 'system:authenticated';

/** The group of administrators, as in the certificate that the control plane issues to them. */
export const mastersGroup = 'system:masters';

/** Adds the group of all authenticated callers. */
export function withAuthenticated(groups: readonly string[]): readonly string[] {
  return groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup];
}

export const anonymousCaller: Caller = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

export const isAnonymous = ({ name }: Pick<Caller, 'name'>): boolean => name === anonymousCaller.name;
