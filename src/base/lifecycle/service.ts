/**
 * A part of a process with a lifetime. Started after what it depends on is ready, stopped before it.
 */
export interface Service {
  readonly name: string;
  readonly dependsOn: readonly string[];
  /** What a failure of run() means: the ordered stop of the whole, or a restart of this part with backoff. */
  readonly onFailure: 'stop' | 'restart';
  /**
   * Runs until `signal` aborts, cleans up, and resolves. `ready` is called once started; it never means that
   * a peer is reachable. To return before `signal` aborts is a failure, as is to throw;
   * an AbortError thrown after `signal` has aborted is no failure.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}

/** Resolves when `signal` aborts; the usual last line of a service's run(). */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
