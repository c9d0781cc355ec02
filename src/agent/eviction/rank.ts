import type { Pod } from '../../api/index.ts';
import { podRequests } from '../../api/index.ts';
import { compareForAdmission } from '../pods/admission/index.ts';
import type { DiskPart } from './file-systems.ts';
import type { DiskUse, PodUse } from './types.ts';

export interface RankedPod {
  readonly pod: Pod;
  /** Undefined: there are no figures of it. */
  readonly use: PodUse | undefined;
}

/** What is short; of the disk, what lies on that file system. */
export type Shortage =
  | { readonly of: 'memory' | 'pids' }
  | { readonly of: 'ephemeral-storage' | 'inodes'; readonly parts: readonly DiskPart[] };

type Compare = (a: Standing, b: Standing) => number;

interface Standing {
  readonly pod: Pod;
  readonly isKnown: boolean;
  readonly priority: number;
  readonly isOver: boolean;
  /** How much it uses of what is short, less what it requests of that. */
  readonly excess: number;
}

/**
 * The pods in the order in which they end, as in the reference: pods without figures, then those that use more than they request,
 * then by priority, and then by how far they are above their request; for process numbers by priority and number alone. Of
 * equal ones the youngest goes first.
 */
export function rankPods<Ranked extends RankedPod>(pods: readonly Ranked[], shortage: Shortage): Ranked[] {
  const order = shortage.of === 'pids' ? orderForProcesses : orderForAmounts;
  return pods
    .map((ranked) => ({ ranked, standing: standingOf(ranked, shortage) }))
    .sort((a, b) => {
      for (const compare of order) {
        const result = compare(a.standing, b.standing);
        if (result !== 0) return result;
      }
      return 0;
    })
    .map(({ ranked }) => ranked);
}

const byLackOfFigures: Compare = (a, b) => Number(a.isKnown) - Number(b.isKnown);
const byExceeding: Compare = (a, b) => Number(b.isOver) - Number(a.isOver);
const byPriority: Compare = (a, b) => a.priority - b.priority;
const byExcess: Compare = (a, b) => b.excess - a.excess;
const byYouth: Compare = (a, b) => compareForAdmission(b.pod, a.pod);

const orderForAmounts = [byLackOfFigures, byExceeding, byPriority, byExcess, byYouth];
const orderForProcesses = [byPriority, byLackOfFigures, byExcess, byYouth];

function standingOf({ pod, use }: RankedPod, shortage: Shortage): Standing {
  const priority = pod.spec?.priority ?? 0;
  if (use === undefined) return { pod, isKnown: false, priority, isOver: false, excess: 0 };
  const excess = usedOf(use, shortage) - requestOf(pod, shortage.of);
  return { pod, isKnown: true, priority, isOver: excess > 0, excess };
}

function usedOf(use: PodUse, shortage: Shortage): number {
  switch (shortage.of) {
    case 'memory':
      return use.memoryBytes ?? 0;
    case 'pids':
      return use.processes ?? 0;
    case 'ephemeral-storage':
      return diskUseOf(use, shortage.parts).bytes;
    case 'inodes':
      return diskUseOf(use, shortage.parts).inodes;
  }
}

/** Of inodes and process numbers nothing can be requested. */
function requestOf(pod: Pod, resource: Shortage['of']): number {
  if (resource === 'pids' || resource === 'inodes') return 0;
  return Number(podRequests(pod, { withOverhead: true }).get(resource) ?? 0n) / 1e9;
}

/** What these parts of the pod take together. */
export function diskUseOf({ containers, volumes }: PodUse, parts: readonly DiskPart[]): DiskUse {
  const used: readonly (DiskUse | undefined)[] = [
    ...(parts.includes('layers') ? containers.map(({ layer }) => layer) : []),
    ...(parts.includes('logs') ? containers.map(({ logs }) => logs) : []),
    ...(parts.includes('volumes') ? volumes : []),
  ];
  return {
    bytes: used.reduce((sum, each) => sum + (each?.bytes ?? 0), 0),
    inodes: used.reduce((sum, each) => sum + (each?.inodes ?? 0), 0),
  };
}
