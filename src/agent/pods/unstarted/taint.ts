import type { Taint } from '../../../api/index.ts';

/**
 * On a Node whose agent runs no pods: schedulers pass it by. An agent may set taints only when it creates its Node; on one that
 * exists, others do.
 */
export const runsNoPodsTaint: Taint = { key: 'nodeward.io/runs-no-pods', effect: 'NoSchedule' };
