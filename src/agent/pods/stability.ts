import type { FolderEntry } from '../../base/folder-watch/index.ts';
import type { Clock } from '../../base/index.ts';

/** Tells when a file has been left alone for long enough to be whole. */
export interface Stability {
  /**
   * How long still; 0: now. `byTime`: what its time says counts. That is for files that were there before anybody looked;
   * what comes later is watched, whatever the clock does meanwhile.
   */
  waitMs(entry: FolderEntry, byTime: boolean): number;
  forget(path: string): void;
}

export function createStability(clock: Clock, quietMs: number): Stability {
  const seen = new Map<string, { identity: string; sinceMs: number }>();
  return {
    waitMs({ path, identity, mtimeMs }, byTime) {
      if (byTime && clock.now() - mtimeMs >= quietMs) return 0;
      const before = seen.get(path);
      const nowMs = clock.monotonicMs();
      if (before?.identity !== identity) seen.set(path, { identity, sinceMs: nowMs });
      const sinceMs = before?.identity === identity ? before.sinceMs : nowMs;
      return Math.max(0, sinceMs + quietMs - nowMs);
    },
    forget: (path) => void seen.delete(path),
  };
}
