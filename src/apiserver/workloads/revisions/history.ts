import type { ControllerRevision } from '../../../api/index.ts';
import type { Fields } from './revision-data.ts';
import { keepsSame } from './revision-data.ts';

/** What is to be done so that the newest revision is the one that keeps what is wanted now. */
export interface HistoryPlan {
  /** The revision that keeps it; undefined: it is to be made. */
  readonly current: ControllerRevision | undefined;
  /** The number that it is to have: a revision that is gone back to becomes the newest. */
  readonly number: number;
  /** Others that keep the same. */
  readonly duplicates: readonly ControllerRevision[];
  /** Those that keep something else, the oldest first. */
  readonly old: readonly ControllerRevision[];
}

export function planHistory(revisions: readonly ControllerRevision[], data: Fields): HistoryPlan {
  const ordered = [...revisions].sort(compareRevisions);
  const same = ordered.filter((each) => keepsSame(each, data));
  const old = ordered.filter((each) => !same.includes(each));
  const current = same.at(-1);
  const next = numberOf(old.at(-1)) + 1;
  return {
    current,
    number: Math.max(next, numberOf(current)),
    duplicates: same.slice(0, -1),
    old,
  };
}

/** The old revisions that go, the oldest first, so that `limit` stay; none goes that a pod is of. */
export function surplusRevisions(
  old: readonly ControllerRevision[],
  limit: number,
  isLive: (revision: ControllerRevision) => boolean,
): readonly ControllerRevision[] {
  const removable = [...old].sort(compareRevisions).filter((each) => !isLive(each));
  return removable.slice(0, Math.max(0, removable.length - limit));
}

function numberOf(revision: ControllerRevision | undefined): number {
  return revision?.revision ?? 0;
}

/** By number, then by age, then by name, so that all servers agree. */
function compareRevisions(one: ControllerRevision, other: ControllerRevision): number {
  const byNumber = numberOf(one) - numberOf(other);
  if (byNumber !== 0) return byNumber;
  const [age, otherAge] = [one, other].map(({ metadata }) => Date.parse(metadata?.creationTimestamp ?? ''));
  if (age !== undefined && otherAge !== undefined && age !== otherAge) return age - otherAge;
  return (one.metadata?.name ?? '') < (other.metadata?.name ?? '') ? -1 : 1;
}
