/** What the node's status needs of the container runtime; a Runtime satisfies it. */
export interface RuntimeView {
  /** Cached, never waits. */
  status(): RuntimeCondition;
  /** Calls `listener` after each change, until disposed of. */
  onStatusChange(listener: () => void): Disposable;
  /** As far as it is known; cached, never waits. */
  images(): ImageView;
  onImagesChange(listener: () => void): Disposable;
}

export interface ImageView {
  /** The largest first; undefined while they are not known. */
  readonly images: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[] | undefined;
  readonly imageDir: string | undefined;
  readonly containerDir: string | undefined;
}

export interface RuntimeCondition {
  readonly ready: boolean;
  readonly networkReady: boolean;
  readonly reason: string;
  readonly message: string;
  readonly name: string;
  readonly version: string;
  readonly handlers?: readonly HandlerView[];
  readonly supplementalGroupsPolicy?: boolean;
}

interface HandlerView {
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

const silentReasons = ['RuntimeStarting', 'RuntimeUnavailable', 'RuntimeTimeout', 'RuntimeFailed'];

/** Whether a condition is the runtime's own answer; false where the runtime could not be asked. */
export function isRuntimeAnswering(runtime: RuntimeCondition): boolean {
  return runtime.ready || runtime.networkReady || !silentReasons.includes(runtime.reason);
}
