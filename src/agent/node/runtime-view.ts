/** What the node's status needs to know of the container runtime; a Runtime satisfies it. */
export interface RuntimeView {
  /** Cached, never waits. */
  status(): RuntimeCondition;
  /** Calls `listener` after each change, until disposed of. */
  onStatusChange(listener: () => void): Disposable;
}

export interface RuntimeCondition {
  readonly ready: boolean;
  readonly networkReady: boolean;
  readonly reason: string;
  readonly message: string;
  readonly name: string;
  readonly version: string;
}

const silentReasons = ['RuntimeStarting', 'RuntimeUnavailable', 'RuntimeTimeout', 'RuntimeFailed'];

/** Whether the runtime itself spoke, or could not be asked. */
export function runtimeAnswers(runtime: RuntimeCondition): boolean {
  return runtime.ready || runtime.networkReady || !silentReasons.includes(runtime.reason);
}
