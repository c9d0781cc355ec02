import type { Node, NodeCondition } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';

/*
 * The conditions of a node that has gone silent, in the reference's words. NetworkUnavailable is left as it is: it may
 * be written by another program than the agent, such as a network plugin's controller.
 */

const agentConditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];

const silent = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const neverPosted = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };

/** The status of a node's condition Ready; `none` when it has no such condition. */
export type Readiness = 'True' | 'False' | 'Unknown' | 'none';

export function readyCondition(node: Node): NodeCondition | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready');
}

export function readinessOf(condition: NodeCondition | undefined): Readiness {
  if (condition === undefined) return 'none';
  return condition.status === 'True' || condition.status === 'False' ? condition.status : 'Unknown';
}

/** Whether a condition was written by this controller, and is therefore no sign of life. */
export function isOurs({ status, reason }: NodeCondition): boolean {
  return status === 'Unknown' && (reason === silent.reason || reason === neverPosted.reason);
}

/** The node with all conditions of its agent Unknown; the same object when they are so already. `now`: wall clock. */
export function asSilent(node: Node, now: number): Node {
  const conditions = node.status?.conditions ?? [];
  const lastTransitionTime = formatTime(now);
  const changed = conditions.map((condition) =>
    condition.status === 'Unknown' || !agentConditions.includes(condition.type)
      ? condition
      : { ...condition, ...silent, status: 'Unknown', lastTransitionTime },
  );
  const missing = agentConditions.filter((type) => !conditions.some((condition) => condition.type === type));
  if (missing.length === 0 && changed.every((condition, index) => condition === conditions[index]))
    return node;
  const added = missing.map((type) => createNeverPosted(type, node, lastTransitionTime));
  return { ...node, status: { ...node.status, conditions: [...changed, ...added] } };
}

function createNeverPosted(type: string, { metadata }: Node, lastTransitionTime: string): NodeCondition {
  const { creationTimestamp: created } = metadata ?? {};
  const heartbeat = created === undefined ? {} : { lastHeartbeatTime: created };
  return { type, status: 'Unknown', ...heartbeat, lastTransitionTime, ...neverPosted };
}
