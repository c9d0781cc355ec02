import type { User } from '../authn/index.ts';
import type { Authorizer } from '../authz/index.ts';
import type { NamedAuthorizer } from './authorizers.ts';

const nobody: User = { name: '', groups: [], extra: {} };

/** Whether it cannot say even of nobody what they may do: another server, which is not asked for everybody. */
export async function isOpaque(authorizer: Authorizer): Promise<boolean> {
  const list = await authorizer.rules?.(nobody, '');
  return list === undefined || list.incomplete;
}

/** The names of those that cannot tell whom they allow what. */
export async function opaqueAuthorizers(authorizers: readonly NamedAuthorizer[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, authorizer } of authorizers) if (await isOpaque(authorizer)) names.push(name);
  return names;
}
