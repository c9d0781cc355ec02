import type { Clock } from '../../base/index.ts';
import type { Freezer } from './cgroup.ts';

/** Between two reads; the precision of the result. */
const intervalMs = 5;

/** Measures how long a container is frozen, from now until it is disposed of. */
export interface PauseWatch extends AsyncDisposable {
  /**
   * From the first to the last time that the container was observed frozen: in between criu thaws it to stop each process
   * by itself, and freezes it again before the runtime resumes it. 0 when it never was frozen, undefined when that could
   * not be observed.
   */
  pausedMs(): number | undefined;
}

/** Takes the freezer over and closes it. */
export function watchPause(freezer: Freezer | undefined, clock: Clock): PauseWatch {
  const stop = new AbortController();
  let wasRead = false;
  let frozenMs: { first: number; last: number } | undefined;

  async function watch(from: Freezer): Promise<void> {
    await using open = from;
    while (!stop.signal.aborted) {
      const frozen = await open.frozen();
      if (frozen === undefined) return;
      wasRead = true;
      const now = clock.monotonicMs();
      if (frozen) frozenMs = { first: frozenMs?.first ?? now, last: now };
      await clock.sleep(intervalMs, stop.signal);
    }
  }

  const watching = freezer === undefined ? Promise.resolve() : watch(freezer).catch(() => undefined);
  return {
    pausedMs() {
      if (frozenMs !== undefined) return frozenMs.last - frozenMs.first;
      return wasRead ? 0 : undefined;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}
