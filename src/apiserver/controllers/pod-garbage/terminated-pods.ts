import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';

/** Removed in one sweep; the rest in the next. */
const maxPerSweep = 10_000;

interface Rank {
  key: string;
  wasEvicted: boolean;
  createdMs: number;
}

/**
 * Returns the keys of the terminated pods beyond `threshold` that are to be removed: evicted ones first, then the oldest;
 * as in the reference. `candidates` may include pods that have not terminated.
 */
export async function listExcess(
  candidates: readonly string[],
  threshold: number,
  read: (key: string) => Pod | undefined,
): Promise<string[]> {
  if (candidates.length <= threshold) return [];
  const yielder = new EventLoopYielder();
  const ended: Rank[] = [];
  for (const key of candidates) {
    const pod = read(key);
    if (pod !== undefined && podHasEnded(pod)) ended.push(rankOf(key, pod));
    if (yielder.isDue) await yielder.yield();
  }
  const excess = Math.max(0, Math.min(maxPerSweep, ended.length - threshold));
  const first = ended.sort(byRank).slice(0, excess);
  return first.map(({ key }) => key);
}

function rankOf(key: string, { metadata, status }: Pod): Rank {
  const wasEvicted = status?.phase === 'Failed' && status.reason === 'Evicted';
  return { key, wasEvicted, createdMs: Date.parse(metadata?.creationTimestamp ?? '') || 0 };
}

function byRank(one: Rank, other: Rank): number {
  if (one.wasEvicted !== other.wasEvicted) return one.wasEvicted ? -1 : 1;
  return one.createdMs - other.createdMs || (one.key < other.key ? -1 : 1);
}
