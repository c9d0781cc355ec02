import type { DefragReport } from '../maintenance.ts';
import type { Database } from '../writer/database.ts';

/** Pages that one step gives back at most (1 MiB). */
const stepPages = 256;

/**
 * Gives free pages back to the disk, in steps that are written back at once, so that the log file does not grow. A store
 * that an old version created must first be rewritten, in one step during which reads and writes wait.
 */
export function* defragTask(db: Database): Generator<undefined, DefragReport> {
  db.pages.checkpointAll();
  const beforeBytes = db.pages.size().bytes;
  if (!db.pages.shrinksInSteps) db.pages.rebuild();
  yield;
  for (let free = db.pages.size().freeBytes; free > 0; ) {
    db.pages.shrink(stepPages);
    db.pages.checkpoint();
    yield;
    const left = db.pages.size().freeBytes;
    if (left >= free) break;
    free = left;
  }
  db.pages.checkpointAll();
  return { file: db.file, beforeBytes, afterBytes: db.pages.size().bytes };
}
