import type { RuntimeError } from './errors.ts';

/** What is known of the container runtime; see `Runtime.status`. */
export interface RuntimeStatus {
  /** It answers and says RuntimeReady. */
  readonly ready: boolean;
  /** It answers and says NetworkReady. */
  readonly networkReady: boolean;
  /**
   * Empty when both are true. Otherwise in CamelCase: `RuntimeStarting` (nothing known yet),
   * `RuntimeUnavailable`, `RuntimeTimeout`, `RuntimeFailed`, or what the runtime says of a condition that is
   * not true, such as `NetworkPluginNotReady`.
   */
  readonly reason: string;
  /** The same for people; empty when both are true. */
  readonly message: string;
  /** Such as `2.1.9`, without what a build adds (`+unknown`); the last known, empty before the first answer. */
  readonly version: string;
  /** Such as `containerd`; the last known, empty before the first answer. */
  readonly name: string;
  /** The endpoint in use; empty while none exists. */
  readonly endpoint: string;
  /** The last known; undefined where the runtime has never told. */
  readonly handlers?: readonly RuntimeHandler[];
  /** Whether it honours a pod's policy for supplemental groups; undefined where it does not tell. */
  readonly supplementalGroupsPolicy?: boolean;
}

/** One way in which the runtime can run containers; the one without a name is the default. */
export interface RuntimeHandler {
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface RuntimeImage {
  /** With digests first. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

/** What is known of the node's images. */
export interface ImageStore {
  /** The largest first; undefined while they are not known. */
  readonly images: readonly RuntimeImage[] | undefined;
  /** Where they are kept; undefined while it is not known. */
  readonly imageDir: string | undefined;
  /** Where the containers' own layers are, if elsewhere. */
  readonly containerDir: string | undefined;
}

/** What a task does, as far as the runtime can tell; `gone` when it has ended or never was. */
export type TaskState = 'running' | 'paused' | 'gone' | 'unknown';

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

export interface FoundContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  /** Only a running container can be checkpointed. */
  readonly state: ContainerState;
}

/** How the workload was left: it ran already, it was frozen and runs again, or it has ended. */
export type Thawed = 'running' | 'resumed' | 'gone';

export interface ContainerFacts {
  /** Its first process, as this machine numbers it; undefined when the runtime does not tell. */
  readonly pid: number | undefined;
  /** As the container names it, and the runtime's id of it; empty when it does not tell. */
  readonly image: string;
  readonly imageRef: string;
}

export interface CheckpointHints {
  /** The container's first process, so that its freezer can be watched. */
  readonly pid?: number | undefined;
  /** Until when, on the monotonic clock, a failure is followed by another try; default: none is. */
  readonly againUntilMs?: number | undefined;
}

/** How long the container stood still; undefined when that could not be seen. */
export interface Pause {
  readonly pausedMs: number | undefined;
}

/** What became of a container that was held. */
export interface Released {
  /** A RuntimeError, `stillFrozen`, when it could not be proven to run: call `thaw` again later. */
  readonly thawed: Thawed | RuntimeError;
  /** How long it stood still; undefined when that could not be seen. */
  readonly pausedMs: number | undefined;
}

/** Containers that stand still together, so that their checkpoints are of one moment. */
export interface Hold {
  /**
   * Freezes one more. Rejects when it does not run, or cannot be frozen in time; it may be frozen all the same, and
   * `release` looks after it. `pid` is its first process, so that its freezer can be watched.
   */
  freeze(id: string, cancel: AbortSignal, pid?: number): Promise<void>;
  /** Writes the checkpoint of one that is frozen to `file`, without a deadline, and leaves it frozen. */
  checkpoint(id: string, file: string, cancel: AbortSignal): Promise<void>;
  /**
   * Thaws all that were frozen or may be, the last one first. Never rejects; settles once each is proven to run, or
   * could not be within the time for that. Must be called whatever happened before.
   */
  release(): Promise<ReadonlyMap<string, Released>>;
}

export interface FoundMember extends FoundContainer {
  readonly name: string;
}

export interface DumpFolder {
  /** As the runtime names it. */
  readonly name: string;
  /** Where this process finds it. */
  readonly path: string;
  /** Whether what the runtime leaves there when it is killed has names of its own, `ctrd-checkpoint…`. */
  readonly dumps: boolean;
}

/**
 * The container runtime of this node, spoken to over CRI. Every call rejects with a RuntimeError, and none but
 * `checkpoint` waits longer than its deadline.
 */
export interface Runtime {
  /** Cached, never waits; a background task keeps it fresh. */
  status(): RuntimeStatus;
  /** Asks the runtime now, in bounded time, and answers the new status. Never rejects. */
  refresh(): Promise<RuntimeStatus>;
  /** Calls `listener` after each change of the status, until disposed of. */
  onStatusChange(listener: (status: RuntimeStatus) => void): Disposable;
  /** Cached like the status; asked for every half minute. */
  images(): ImageStore;
  /** Calls `listener` after each change of these, until disposed of. */
  onImagesChange(listener: () => void): Disposable;
  /**
   * The container that a pod's name and a container's name mean: in the pod's newest ready sandbox, a running
   * one before others, then the newest. Init and ephemeral containers count. `cancel` gives the search up.
   */
  find(
    namespace: string,
    pod: string,
    container: string,
    cancel?: AbortSignal,
  ): Promise<FoundContainer | 'noPod' | 'noContainer'>;
  /**
   * The running containers in the newest ready sandbox of that name, in the order in which they were made; init and
   * ephemeral containers count. One whose state is not known counts as running.
   */
  findPod(namespace: string, pod: string, cancel?: AbortSignal): Promise<readonly FoundMember[] | 'noPod'>;
  /** Begins to hold containers still together; nothing happens yet. */
  hold(): Hold;
  /**
   * Writes the container's checkpoint to `file`, an absolute path. Sets no deadline; `cancel` is the way to
   * give up. However it ends, it settles only once the container is proven to run (or to have ended by
   * itself), and resumes it if need be. Reason `stillFrozen` says that this could not be proven in time:
   * call `thaw` again later.
   */
  checkpoint(id: string, file: string, cancel: AbortSignal, hints?: CheckpointHints): Promise<Pause>;
  /**
   * Proves that the container runs and resumes it if it is paused, waiting a bounded time for a runtime that
   * is away. Only for containers that this agent itself froze: an operator may have paused others on purpose.
   */
  thaw(id: string, cancel?: AbortSignal): Promise<Thawed>;
  task(id: string): Promise<TaskState>;
  resume(id: string): Promise<void>;
  /** Calls `listener` with the id of each container that was found frozen and has been resumed, until disposed of. */
  onResumed(listener: (id: string) => void): Disposable;
  /** What the runtime tells of a container beside its state. */
  inspect(id: string): Promise<ContainerFacts>;
  /** Where the runtime writes in the course of a checkpoint, as far as it can be known. */
  dumpFolders(): Promise<readonly DumpFolder[]>;
  /**
   * Memory in use by the container: from its cgroup, else from the runtime's statistics. Tells how large a
   * checkpoint will be, for who wants to know beforehand whether the disk has room for it. `pid` spares the question for it.
   */
  memoryBytes(id: string, pid?: number): Promise<number>;
}
