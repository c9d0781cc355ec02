import type { Clock } from '../../../base/index.ts';
import type { CsiDriver, Publication } from './types.ts';

/** How far the cluster knows of each driver. */
export interface Publications {
  /** Of a driver that nothing has been tried for yet: pending. */
  of(driver: CsiDriver): Publication;
  set(driver: CsiDriver, state: Publication['state'], problem?: string): void;
  /** Forgets all others. */
  keep(drivers: readonly CsiDriver[]): void;
  /** Resolves when something has been tried for a driver, after `withinMs`, or when `signal` aborts. */
  tried(driver: CsiDriver, withinMs: number, signal: AbortSignal): Promise<void>;
}

export function createPublications(clock: Clock): Publications {
  const known = new Map<CsiDriver, Publication>();
  const waiting = new Map<CsiDriver, () => void>();

  function set(driver: CsiDriver, state: Publication['state'], problem?: string): void {
    const before = known.get(driver);
    const sinceMs = before?.state === state ? before.sinceMs : clock.now();
    known.set(driver, { state, sinceMs, ...(problem === undefined ? {} : { problem }) });
    waiting.get(driver)?.();
  }

  return {
    set,
    of: (driver) => known.get(driver) ?? { state: 'pending', sinceMs: clock.now() },
    keep(drivers) {
      const kept = new Set(drivers);
      for (const driver of known.keys()) if (!kept.has(driver)) known.delete(driver);
    },
    async tried(driver, withinMs, signal) {
      if (known.has(driver)) return;
      const end = new AbortController();
      waiting.set(driver, () => end.abort());
      await clock.sleep(withinMs, AbortSignal.any([end.signal, signal]));
      waiting.delete(driver);
    },
  };
}
