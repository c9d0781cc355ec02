import type { User } from '../../authn/index.ts';
import { nodesGroup } from '../../authn/index.ts';

/** Where the heartbeats of nodes live. */
export const nodeLeaseNamespace = 'kube-node-lease';

const userPrefix = 'system:node:';

/** The node that a user is, or undefined: the name and the group must both say so. */
export function nodeNameOf(user: User): string | undefined {
  if (!user.groups.includes(nodesGroup) || !user.name.startsWith(userPrefix)) return undefined;
  const name = user.name.slice(userPrefix.length);
  return name === '' ? undefined : name;
}
