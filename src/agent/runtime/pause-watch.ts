import type { Clock } from '../../base/index.ts';
import type { Freezer } from './cgroup.ts';

/** Between two looks; so exact is what comes out. */
const intervalMs = 5;

/** Measures how long a container stands still, from now until it is disposed of. */
export interface PauseWatch extends AsyncDisposable {
  /**
   * From the first time that the container was seen frozen to the last time that it was: in between criu thaws it to
   * hold each process by itself, and freezes it again before the runtime resumes it. 0 when it never was, undefined
   * when it could not be looked at.
   */
  pausedMs(): number | undefined;
}

/** Takes the freezer over and closes it. */
export function watchPause(freezer: Freezer | undefined, clock: Clock): PauseWatch {
  const stop = new AbortController();
  let seen = false;
  let frozenMs: { first: number; last: number } | undefined;

  async function watch(from: Freezer): Promise<void> {
    await using open = from;
    while (!stop.signal.aborted) {
      const frozen = await open.frozen();
      if (frozen === undefined) return;
      seen = true;
      const now = clock.monotonicMs();
      if (frozen) frozenMs = { first: frozenMs?.first ?? now, last: now };
      await clock.sleep(intervalMs, stop.signal);
    }
  }

  const watching = freezer === undefined ? Promise.resolve() : watch(freezer).catch(() => undefined);
  return {
    pausedMs() {
      if (frozenMs !== undefined) return frozenMs.last - frozenMs.first;
      return seen ? 0 : undefined;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}
