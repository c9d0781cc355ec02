import type { Clock } from '../../../../src/base/index.ts';
import { systemClock } from '../../../../src/base/index.ts';

/** A clock in whose eyes everything takes longer. */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs() * factor,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  };
}
