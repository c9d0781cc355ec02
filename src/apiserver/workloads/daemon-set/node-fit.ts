import type { Node, Pod, SelectableNode, Taint } from '../../../api/index.ts';
import { matchesNode, tolerates } from '../../../api/index.ts';

/** What counts of a node for whether a daemon runs on it. */
export interface DaemonNode extends SelectableNode {
  readonly taints: readonly Taint[];
}

export function readDaemonNode({ metadata, spec }: Node): DaemonNode {
  return { name: metadata?.name ?? '', labels: metadata?.labels ?? {}, taints: spec?.taints ?? [] };
}

/** Whether a daemon's pod is made on a node, may only stay where it is there already, or goes. */
export type Fit = 'run' | 'stay' | 'leave';

/** `pod`: as it would be made (`daemonPod`), for no node yet. */
export function fitOf(pod: Pod, node: DaemonNode): Fit {
  const { nodeName = '' } = pod.spec ?? {};
  if (nodeName !== '' && nodeName !== node.name) return 'leave';
  if (!matchesNode(pod, node)) return 'leave';
  const repelling = node.taints.filter(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(pod, taint),
  );
  if (repelling.length === 0) return 'run';
  return repelling.some(({ effect }) => effect === 'NoExecute') ? 'leave' : 'stay';
}
