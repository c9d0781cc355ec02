import type { Pod } from '../../../api/index.ts';
import { nodeOf, revisionLabel } from './daemon-pod.ts';

/** The pods of a daemon set by the node that they are on or meant for; one that has ended and is being deleted counts no more. */
export function podsByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const nodes = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = nodeOf(pod);
    if (node === undefined || (isGoing(pod) && isOver(pod))) continue;
    const there = nodes.get(node);
    if (there === undefined) nodes.set(node, [pod]);
    else there.push(pod);
  }
  return nodes;
}

export function isGoing({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

export function isOf({ metadata }: Pod, hash: string): boolean {
  return metadata?.labels?.[revisionLabel] === hash;
}

/** Those that have a node first, then the older ones. */
export function oldestFirst(pods: readonly Pod[]): Pod[] {
  return [...pods].sort((one, other) => {
    const byNode = Number(Boolean(other.spec?.nodeName)) - Number(Boolean(one.spec?.nodeName));
    return byNode || createdMs(one) - createdMs(other) || (nameOf(one) < nameOf(other) ? -1 : 1);
  });
}

const createdMs = ({ metadata }: Pod) => Date.parse(metadata?.creationTimestamp ?? '') || 0;
const nameOf = ({ metadata }: Pod) => metadata?.name ?? '';
