import { isDeepStrictEqual } from 'node:util';
import type { ClusterRole } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Strategy } from '../strategy.ts';

/**
 * The rules of a role with an aggregationRule are those of the roles that it selects: only the control plane changes them
 * (specification, section 2.3). A change by anybody else leaves them as they are; one that says other rules gets a warning.
 */
export const clusterRoleStrategy: Strategy<ClusterRole> = {
  beforeUpdate(next, old, { context }) {
    const isGathered = next.aggregationRule !== undefined && old.aggregationRule !== undefined;
    if (!isGathered || context.user === controlPlaneUser) return next;
    const { rules: given = [], ...role } = next;
    const { rules } = old;
    if (given.length > 0 && !isDeepStrictEqual(given, rules)) context.warn?.(warning);
    return rules === undefined ? role : { ...role, rules };
  },
};

const warning =
  'rules: filled in by the aggregation, as the aggregationRule says; the change of the rules was not taken';
