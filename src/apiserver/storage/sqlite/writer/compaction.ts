import type { Revision } from '../../types.ts';
import type { LogEntry } from './checksum.ts';
import type { Database } from './database.ts';
import type { WriterState } from './writer-state.ts';

export interface Forgotten {
  readonly upTo: Revision;
  /** The bytes that were freed. */
  readonly bytes: number;
}

/** How far history is to be forgotten because of its age (`old`), and how far at most because of its size (`goal`). */
function computeGoals(state: WriterState, addedBytes: number): { old: Revision; goal: Revision } {
  const last = Math.min(state.durable, state.hold);
  const old = Math.min(state.compactTo, last);
  return { old, goal: state.historyBytes + addedBytes > state.historyLimitBytes ? last : old };
}

export function compactionIsDue(state: WriterState): boolean {
  return computeGoals(state, 0).goal > state.compacted;
}

/**
 * Forgets some history, inside the caller's transaction. Returns how far it came. The rows removed are those that a
 * version up to that revision replaced, and deletions up to it: the state at the returned revision stays readable. A row
 * names the row that it replaced, so no index by key is needed. `addedBytes`: added to history by this transaction.
 */
export function compactStep(
  db: Database,
  state: WriterState,
  rows: number,
  addedBytes: number = 0,
): Forgotten {
  const { old, goal } = computeGoals(state, addedBytes);
  if (goal <= state.compacted) return { upTo: state.compacted, bytes: 0 };
  // Read before deleting: a statement must not iterate over rows that are deleted meanwhile.
  const entries = firstOf(db.entries('', state.compacted, goal), rows);
  const maxBytes = state.historyBytes + addedBytes - state.historyLimitBytes;
  let upTo = state.compacted;
  let bytes = 0;
  for (const entry of entries) {
    if (entry.revision > old && bytes >= maxBytes) return { upTo: Math.max(upTo, old), bytes };
    bytes += forget(db, entry);
    upTo = entry.revision;
  }
  return { upTo: entries.length === rows ? upTo : goal, bytes };
}

function forget(db: Database, entry: LogEntry): number {
  const replaced = entry.previousRevision === 0 ? 0 : db.dropVersion(entry.previousRevision);
  if (entry.createRevision !== 0) return replaced;
  db.dropHead(entry.key, entry.revision);
  return replaced + db.dropVersion(entry.revision);
}

function firstOf(entries: Iterable<LogEntry>, rows: number): LogEntry[] {
  const first: LogEntry[] = [];
  for (const entry of entries) {
    first.push(entry);
    if (first.length === rows) break;
  }
  return first;
}
