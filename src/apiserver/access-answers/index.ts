import { groupName } from '../../api/index.ts';
import type { Rbac } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { createAccessDiff } from './access-diff.ts';
import { createAccessExplanation } from './access-explanation.ts';
import { createAccessQuery } from './access-query.ts';
import type { NamedAuthorizer } from './authorizers.ts';

export { rbacName } from './authorizers.ts';

export interface AccessAnswersOptions {
  /** All authorizers of the chain, in its order; RBAC has the name `rbacName`. */
  authorizers: readonly NamedAuthorizer[];
  rbac: Rbac;
  groupSuffix: string;
}

/** The operations that explain decisions, and answer the reverse questions (docs/authorization.md). */
export function createAccessOperations({
  authorizers,
  rbac,
  groupSuffix,
}: AccessAnswersOptions): Operation[] {
  const group = groupName('rbac.authorization', groupSuffix);
  const parts = () => ({ authorizers, index: rbac.index(), group });
  return [createAccessExplanation(parts), createAccessQuery(parts), createAccessDiff(parts)];
}
