import type { Change, Outcome, Stored } from '../../types.ts';
import { failure } from '../../write-checks.ts';
import type { GroupResult } from '../messages.ts';
import { writeResult } from '../messages.ts';
import { stateAt } from '../packing.ts';
import type { Pending } from './write-queue.ts';

/** The outcomes of a group's writes, in their order; adds the changes that became durable to `changes`. */
export function toOutcomes(group: GroupResult, pending: readonly Pending[], changes: Change[]): Outcome[] {
  return pending.map((write, index) => {
    switch (group.results[index]) {
      case writeResult.ok: {
        const change = changeOf(group, write, index);
        changes.push(change);
        return { ok: true, revision: change.revision, now: change.next };
      }
      case writeResult.conflict: {
        const now = stateAt(write.write.key, group.states, index);
        return { ok: false, code: 'conflict', now, revision: group.revision };
      }
      default:
        return toFailure(group, write);
    }
  });
}

function changeOf(group: GroupResult, { write, previous }: Pending, index: number): Change {
  const { key, value } = write;
  const revision = group.revisions[index] ?? 0;
  const createRevision = group.createRevisions[index] ?? 0;
  const next: Stored | null = value === null ? null : { key, revision, createRevision, value };
  return { key, revision, previous: previous ?? stateAt(key, group.states, index), next };
}

function toFailure(group: GroupResult, { write }: Pending): Outcome {
  const { code, message } = group.failure ?? { code: 'unknown' as const, message: 'no reason given' };
  const what =
    code === 'full'
      ? 'no room for it'
      : code === 'unknown'
        ? 'it may or may not be on disk'
        : 'the store is broken';
  return failure(code, new Error(`cannot store ${write.key}: ${what} (${message})`));
}
