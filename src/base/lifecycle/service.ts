/**
 * A part of a process with a lifetime. It is started after what it depends on is ready, and stopped before that.
 */
export interface Service {
  readonly name: string;
  readonly dependsOn: readonly string[];
  /** What a failure of run() leads to: the ordered stop of all services, or a restart of this one with backoff. */
  readonly onFailure: 'stop' | 'restart';
  /**
   * Runs until `signal` aborts, cleans up, and resolves. It calls `ready` once started, which never means that a peer is
   * reachable. Returning before `signal` aborts is a failure, and so is throwing; an AbortError thrown after `signal` has
   * aborted is none.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}

/** Resolves when `signal` aborts; the usual last line of a service's run(). */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
