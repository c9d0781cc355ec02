import type { User } from '../authn/index.ts';
import type { Authorizer } from '../authz/index.ts';
import type { NamedAuthorizer } from './authorizers.ts';

const anyUser: User = { name: '', groups: [], extra: {} };

/** Whether an authorizer cannot list its rules for any user: another server, which answers single questions only. */
export async function cannotListRules(authorizer: Authorizer): Promise<boolean> {
  const list = await authorizer.rules?.(anyUser, '');
  return list === undefined || list.incomplete;
}

/** Returns the names of the authorizers that cannot list what they allow. */
export async function findUnlistedAuthorizers(authorizers: readonly NamedAuthorizer[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, authorizer } of authorizers) if (await cannotListRules(authorizer)) names.push(name);
  return names;
}
