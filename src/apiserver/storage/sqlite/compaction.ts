import type { Revision } from '../types.ts';
import type { Database, LogEntry } from './database.ts';
import type { WriterState } from './writer-state.ts';

/**
 * Forgets some history, inside the caller's transaction, and answers how far it came. What goes is what a
 * version up to there replaced, and deletions up to there: the state at `compactTo` stays readable. A row
 * names what it replaced, so no index by key is needed.
 */
export function compactStep(db: Database, state: WriterState, rows: number): Revision {
  const goal = Math.min(state.compactTo, state.durable);
  if (goal <= state.compacted) return state.compacted;
  // Read before deleting: a statement must not walk over rows that go away under it.
  const entries = firstOf(db.entries('', state.compacted, goal), rows);
  for (const entry of entries) {
    if (entry.previousRevision !== 0) db.dropVersion(entry.previousRevision);
    if (entry.createRevision !== 0) continue;
    db.dropVersion(entry.revision);
    db.dropHead(entry.key, entry.revision);
  }
  const last = entries.at(-1);
  return last !== undefined && entries.length === rows ? last.revision : goal;
}

function firstOf(entries: Iterable<LogEntry>, rows: number): LogEntry[] {
  const first: LogEntry[] = [];
  for (const entry of entries) {
    first.push(entry);
    if (first.length === rows) break;
  }
  return first;
}
