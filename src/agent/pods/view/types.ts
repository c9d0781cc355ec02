/** What the runtime has of one pod: nothing in here is known from elsewhere. Times are milliseconds of the wall clock. */
export interface PodView {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The newest attempt first. */
  readonly sandboxes: readonly SandboxView[];
  /** By name, and within a name the newest attempt first. */
  readonly containers: readonly ContainerView[];
}

export interface SandboxView {
  readonly id: string;
  readonly attempt: number;
  readonly isReady: boolean;
  readonly createdMs: number;
  /** Empty with the network of the host, and for one that has ended. */
  readonly ips: readonly string[];
  readonly network: 'pod' | 'host';
  /** Empty: the default one. */
  readonly runtimeHandler: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ContainerView {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  /** The runtime's; it is also the restart count, unless an annotation says otherwise. */
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  /** `unknown` only because it was listed as exited and its status has not been read yet. */
  readonly isUnread?: boolean;
  readonly createdMs: number;
  /** Undefined before it started. */
  readonly startedMs: number | undefined;
  readonly finishedMs: number | undefined;
  readonly exitCode: number;
  /** The runtime's, such as `Completed`, `Error`, `OOMKilled`, `StartError`. */
  readonly reason: string;
  readonly message: string;
  /** As the pod names it. */
  readonly image: string;
  /** What `status.containerStatuses[].imageID` says: a digest of a repository, else the image's id. */
  readonly imageRef: string;
  readonly imageId: string;
  readonly logPath: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly user: ContainerUser | undefined;
  /** In force, by the runtime; undefined where it does not say. */
  readonly resources: ContainerLimits | undefined;
  /** By which it is asked to stop, such as `SIGTERM`; undefined where the runtime does not say. */
  readonly stopSignal?: string;
  /** Paths in the container, as they were mounted. */
  readonly mounts: readonly MountView[];
}

export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

export interface ContainerLimits {
  /** As of the CRI; 0: not limited. */
  readonly cpuPeriod: number;
  readonly cpuQuota: number;
  readonly cpuShares: number;
  readonly memoryLimitBytes: number;
}

export interface MountView {
  readonly containerPath: string;
  /** Empty for what is no path of this machine. */
  readonly hostPath: string;
  readonly isReadOnly: boolean;
  readonly isRecursiveReadOnly: boolean;
}

/** Sandboxes and containers of one pod, by their ids. */
export interface PodPartIds {
  readonly sandboxes: readonly { readonly id: string }[];
  readonly containers: readonly { readonly id: string; readonly podSandboxId: string }[];
}

/**
 * What the runtime has, kept up to date by its events and corrected by lists. Beside what the kernel tells of an end, it holds
 * nothing that the runtime could not give back. A pod without the label `io.kubernetes.pod.uid` is not in it: it belongs to another program.
 */
export interface RuntimeView {
  /** Whether everything was listed since the runtime was last reached; before, a missing pod may only not be known yet. */
  isComplete(): boolean;
  /** Undefined: the runtime has nothing of it. */
  pod(uid: string): PodView | undefined;
  pods(): readonly PodView[];
  /**
   * Reads one pod now; what it resolves to is not older than the call. Rejects with a RuntimeError. Callers share a query only
   * with those who asked at the same time.
   */
  refresh(uid: string, cancel?: AbortSignal): Promise<PodView | undefined>;
  /** Reads these parts of one pod now, and nothing else; those that are gone are in the view no more. Otherwise as `refresh`. */
  reread(uid: string, parts: PodPartIds, cancel?: AbortSignal): Promise<PodView | undefined>;
  /** Calls `listener` with the uid of each pod of which something has changed. */
  onChange(listener: (uid: string) => void): Disposable;
}
