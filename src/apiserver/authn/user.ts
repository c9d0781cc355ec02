/** The user that sends a request. */
export interface User {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

export const mastersGroup = 'system:masters';
export const nodesGroup = 'system:nodes';
export const authenticatedGroup = 'system:authenticated';

export const unauthenticatedGroup = 'system:unauthenticated';
export const anonymousName = 'system:anonymous';

/** The control plane's own parts. */
export const controlPlaneUser: User = {
  name: 'system:apiserver',
  groups: [mastersGroup, authenticatedGroup],
  extra: {},
};
