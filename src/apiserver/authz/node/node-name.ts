import type { User } from '../../authn/index.ts';
import { nodesGroup } from '../../authn/index.ts';

/** The namespace of the Leases by which nodes send heartbeats. */
export const nodeLeaseNamespace = 'kube-node-lease';

const userPrefix = 'system:node:';

/** The node name of a node agent's user; undefined unless both its name and its groups are those of a node. */
export function nodeNameOf(user: User): string | undefined {
  if (!user.groups.includes(nodesGroup) || !user.name.startsWith(userPrefix)) return undefined;
  const name = user.name.slice(userPrefix.length);
  return name === '' ? undefined : name;
}
