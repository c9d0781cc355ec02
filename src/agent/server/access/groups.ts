import type { Caller } from './types.ts';

const authenticatedGroup = 'system:authenticated';

/** Everybody's and the control plane's own; its certificate of an administrator says so. */
export const mastersGroup = 'system:masters';

/** Whoever has been authenticated belongs to it, however that was done. */
export function withAuthenticated(groups: readonly string[]): readonly string[] {
  return groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup];
}

export const anonymousCaller: Caller = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};
