import { statSync } from 'node:fs';
import { bucketOf } from '../../key-order.ts';
import type { StoreStats } from '../maintenance.ts';
import type { Database, Head } from '../writer/database.ts';
import type { WriterState } from '../writer/writer-state.ts';

/** Keys that one step counts. */
const stepKeys = 1_000;

interface Count {
  objects: number;
  bytes: number;
}

/** Counts the objects, in bounded steps: objects written meanwhile may or may not be counted. */
export function* statsTask(
  db: Database,
  state: WriterState,
  reserveBytes: number,
): Generator<undefined, StoreStats> {
  const counts = new Map<string, Count>();
  for (let after: string | undefined = ''; after !== undefined; ) {
    after = countStep(db, after, counts);
    yield;
  }
  const prefixes = [...counts].map(([prefix, count]) => ({ prefix, ...count }));
  const { bytes, freeBytes } = db.pages.size();
  const limit = state.historyLimitBytes;
  return {
    file: db.file,
    groupSuffix: db.record().groupSuffix,
    origin: db.origin ?? null,
    revision: state.durable,
    compacted: state.compacted,
    objects: total(prefixes.map(({ objects }) => objects)),
    objectBytes: total(prefixes.map((each) => each.bytes)),
    prefixes,
    history: { bytes: state.historyBytes, limitBytes: Number.isFinite(limit) ? limit : null },
    sizes: { database: bytes, free: freeBytes, log: sizeOf(`${db.file}-wal`), reserve: reserveBytes },
  };
}

/** Returns the last key that was counted; undefined at the end. */
function countStep(db: Database, after: string, counts: Map<string, Count>): string | undefined {
  let keys = 0;
  let last: Head | undefined;
  for (const head of db.heads('', after)) {
    last = head;
    if (head.createRevision !== 0) add(counts, bucketOf(head.key), head.bytes);
    if (++keys === stepKeys) return last.key;
  }
  return undefined;
}

function add(counts: Map<string, Count>, prefix: string, bytes: number): void {
  const count = counts.get(prefix) ?? { objects: 0, bytes: 0 };
  count.objects++;
  count.bytes += bytes;
  counts.set(prefix, count);
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** By its name: closing a descriptor of the file would drop this process's lock. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
