import type { ResourceQuota } from '../../../api/index.ts';
import { readUnderWay, withUnderWay } from '../quota/under-way.ts';
import type { Strategy } from '../strategy.ts';

/** What is being charged is the control plane's own: clients neither state it nor take it away. */
export const resourceQuotaStrategy: Strategy<ResourceQuota> = {
  beforeCreate: (quota) => withUnderWay(quota, []),
  beforeUpdate: (next, old) => withUnderWay(next, readUnderWay(old)),
};
