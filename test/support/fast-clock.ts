import type { Clock } from '../../src/base/index.ts';
import { systemClock } from '../../src/base/index.ts';

/** The system's clock, on which monotonic time passes `factor` times as fast; the wall clock keeps its pace. */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs() * factor,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}
