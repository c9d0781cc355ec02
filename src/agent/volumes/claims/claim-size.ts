import type { PersistentVolumeClaim } from '../../../api/index.ts';
import { billionths, formatTime } from '../../../api/index.ts';

/* What a claim says of the size of its volume, and what a node changes of that, as the reference does. */

type Status = NonNullable<PersistentVolumeClaim['status']>;
type Condition = NonNullable<Status['conditions']>[number];

/** A change of the state of a claim, as a merge patch. */
export type StatusChange = Readonly<Record<string, unknown>>;

/** Undefined where no size is said. */
export function bytesOf(size: string | undefined): bigint | undefined {
  if (size === undefined) return undefined;
  const bytes = (billionths(size) + 999_999_999n) / 1_000_000_000n;
  return bytes > 0n ? bytes : undefined;
}

/** How far the expansion is; empty: the claim says nothing of one. */
export function expansionOf({ status }: PersistentVolumeClaim): string {
  return status?.allocatedResourceStatuses?.['storage'] ?? '';
}

const inProgress = 'NodeResizeInProgress';

/** Otherwise it is the controller's turn, or it was found to be impossible. */
export function isForNode(expansion: string): boolean {
  return ['', 'NodeResizePending', inProgress].includes(expansion);
}

export function begun(): StatusChange {
  return { allocatedResourceStatuses: { storage: inProgress } };
}

const resizing = new Set(['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError']);

/** `size` as the volume has it. */
export function finished({ status }: PersistentVolumeClaim, size: string): StatusChange {
  const conditions = (status?.conditions ?? []).filter(({ type }) => !resizing.has(type));
  return { capacity: { storage: size }, allocatedResourceStatuses: { storage: null }, conditions };
}

/** `isInfeasible`: it is of no use to try it again. */
export function failed(
  { status }: PersistentVolumeClaim,
  why: string,
  isInfeasible: boolean,
  nowMs: number,
): StatusChange {
  const error: Condition = {
    ...{ type: 'NodeResizeError', status: 'True', lastTransitionTime: formatTime(nowMs) },
    message: `failed to expand pvc with ${why}`,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== error.type);
  return {
    conditions: [...others, error],
    ...(isInfeasible ? { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } } : {}),
  };
}
