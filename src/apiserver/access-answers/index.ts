import { groupName } from '../../api/index.ts';
import type { Rbac } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { accessDiff } from './access-diff.ts';
import type { NamedAuthorizer } from './authorizers.ts';
import { accessExplanation } from './explanation.ts';
import { accessQuery } from './query.ts';

export { rbacName } from './authorizers.ts';

export interface AccessAnswersOptions {
  /** All of the chain, in its order; RBAC is the one that is called `rbacName`. */
  authorizers: readonly NamedAuthorizer[];
  rbac: Rbac;
  groupSuffix: string;
}

/** The operations that explain decisions, and turn the question round (docs/authorization.md). */
export function accessOperations({ authorizers, rbac, groupSuffix }: AccessAnswersOptions): Operation[] {
  const group = groupName('rbac.authorization', groupSuffix);
  const parts = () => ({ authorizers, index: rbac.index(), group });
  return [accessExplanation(parts), accessQuery(parts), accessDiff(parts)];
}
