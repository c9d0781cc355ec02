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
  /** The last known; undefined where the runtime has never reported them. */
  readonly handlers?: readonly RuntimeHandler[];
  /** Whether it honours a pod's policy for supplemental groups; undefined where it does not report that. */
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
  /** Where the containers' writable layers are, if elsewhere. */
  readonly containerDir: string | undefined;
}

/** The state of a task by the runtime; `gone` when it has ended or never existed. */
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
  /** Its first process, by the pid on the host; undefined when the runtime does not report it. */
  readonly pid: number | undefined;
  /** The image as the container names it, and below the runtime's id of it; empty when the runtime does not report it. */
  readonly image: string;
  readonly imageRef: string;
}

export interface CheckpointHints {
  /** The container's first process, so that its freezer can be watched. */
  readonly pid?: number | undefined;
  /** Until when, by the monotonic clock, a failed checkpoint is tried again; default: it is not. */
  readonly againUntilMs?: number | undefined;
}

/** How long the container was frozen; undefined when that could not be observed. */
export interface Pause {
  readonly pausedMs: number | undefined;
}

/** The result of releasing a container. */
export interface Released {
  /** A RuntimeError, `stillFrozen`, when it could not be proven to run: call `thaw` again later. */
  readonly thawed: Thawed | RuntimeError;
  /** How long it was frozen; undefined when that could not be observed. */
  readonly pausedMs: number | undefined;
}

/** Containers that are frozen together, so that their checkpoints are of one moment. */
export interface Hold {
  /**
   * Freezes one more. Rejects when it does not run, or cannot be frozen in time; it may be frozen nevertheless, and
   * `release` thaws it. `pid` is its first process, so that its freezer can be watched.
   */
  freeze(id: string, cancel: AbortSignal, pid?: number): Promise<void>;
  /** Writes the checkpoint of a frozen container to `file`, without a deadline, and leaves it frozen. */
  checkpoint(id: string, file: string, cancel: AbortSignal): Promise<void>;
  /**
   * Thaws all containers that are or may be frozen, the last one first. Never rejects; settles once each has been proven to
   * run, or the time for that is over. Must be called whatever happened before.
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
  /** Whether dumps that a killed runtime leaves there have recognisable names, `ctrd-checkpoint…`. */
  readonly dumps: boolean;
}

/**
 * The container runtime of this node, over CRI. Every call rejects with a RuntimeError, and only `checkpoint` waits longer
 * than its deadline.
 */
export interface Runtime {
  /** Cached, never waits; a background task keeps it up to date. */
  status(): RuntimeStatus;
  /** Queries the runtime now, in bounded time, and returns the new status. Never rejects. */
  refresh(): Promise<RuntimeStatus>;
  /** Calls `listener` after each change of the status, until disposed of. */
  onStatusChange(listener: (status: RuntimeStatus) => void): Disposable;
  /** Cached like the status; queried every 30 s. */
  images(): ImageStore;
  /** Calls `listener` after each change of these, until disposed of. */
  onImagesChange(listener: () => void): Disposable;
  /**
   * Finds a container by the names of pod and container: in the pod's newest ready sandbox, a running container before
   * others, then the newest. Init and ephemeral containers count. `cancel` ends the search.
   */
  find(
    namespace: string,
    pod: string,
    container: string,
    cancel?: AbortSignal,
  ): Promise<FoundContainer | 'noPod' | 'noContainer'>;
  /**
   * Lists the running containers in the newest ready sandbox of that name, in the order of their creation. Init and
   * ephemeral containers count. A container whose state is not known counts as running.
   */
  findPod(namespace: string, pod: string, cancel?: AbortSignal): Promise<readonly FoundMember[] | 'noPod'>;
  /** Prepares to freeze containers together; nothing happens yet. */
  hold(): Hold;
  /**
   * Writes the container's checkpoint to `file`, an absolute path. It has no deadline; `cancel` ends it. However it ends, it
   * settles only once the container has been proven to run (or to have ended by itself), and resumes it if necessary.
   * Reason `stillFrozen`: that could not be proven in time; call `thaw` again later.
   */
  checkpoint(id: string, file: string, cancel: AbortSignal, hints?: CheckpointHints): Promise<Pause>;
  /**
   * Proves that the container runs and resumes it if it is paused, waiting a bounded time for an unreachable runtime. Only
   * for containers that this agent itself froze: an operator may have paused others on purpose.
   */
  thaw(id: string, cancel?: AbortSignal): Promise<Thawed>;
  /**
   * Kills the processes by which the runtime dumps the container: a last resort, for a dump that does not end though its call
   * was cancelled. Returns how many there were.
   */
  killDump(id: string): Promise<number>;
  task(id: string): Promise<TaskState>;
  resume(id: string): Promise<void>;
  /** Calls `listener` with the id of each container that was found frozen and has been resumed, until disposed of. */
  onResumed(listener: (id: string) => void): Disposable;
  /** What the runtime reports about a container beside its state. */
  inspect(id: string): Promise<ContainerFacts>;
  /** The folders into which the runtime writes during a checkpoint, as far as they are known. */
  dumpFolders(): Promise<readonly DumpFolder[]>;
  /**
   * Memory in use by the container: from its cgroup, else from the runtime's statistics. It predicts the size of a
   * checkpoint, for checks of the disk space beforehand. With `pid` the runtime need not be queried for it.
   */
  memoryBytes(id: string, pid?: number): Promise<number>;
}
